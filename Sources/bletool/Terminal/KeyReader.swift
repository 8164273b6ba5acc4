import Glibc
import HCISocket

/// Reads the keys of a terminal as they are pressed.
struct KeyReader: ~Copyable {
    /// The time for which an Escape can be the start of another key.
    private static let timeLimit = Duration.milliseconds(50)

    private let descriptor: CInt
    private let loop: EventLoop
    private var decoder = KeyDecoder()

    init(_ terminal: RawTerminal, on loop: EventLoop) {
        descriptor = terminal.input
        self.loop = loop
    }

    /// Returns the next keys, or nil when the terminal has gone or the task is cancelled.
    mutating func next() async -> [TerminalKey]? {
        while true {
            guard await isReadable(within: decoder.isPending ? Self.timeLimit : nil) else {
                if Task.isCancelled { return nil }
                let keys = decoder.flush()
                if keys.isEmpty { continue }
                return keys
            }
            var octets = [UInt8](repeating: 0, count: 256)
            let count = read(descriptor, &octets, octets.count)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { return nil }
            let keys = decoder.take(octets.prefix(count))
            if !keys.isEmpty { return keys }
        }
    }

    private func isReadable(within limit: Duration?) async -> Bool {
        guard let limit else { return await loop.readiness(of: descriptor, for: .read) != nil }
        return await withTaskGroup(of: Bool.self) { [descriptor, loop] group in
            group.addTask { await loop.readiness(of: descriptor, for: .read) != nil }
            group.addTask {
                _ = await loop.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
