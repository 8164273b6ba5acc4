import Glibc
import HCISocket

/// Reads the lines of a pipe or a terminal as they arrive.
struct LineReader: ~Copyable {
    /// The maximum length of a line in octets.
    static let limit = 65_536

    private let descriptor: CInt
    private let loop: EventLoop
    private var octets: [UInt8] = []
    private var isAtEnd = false

    init(_ descriptor: CInt, on loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Returns the next line without its end, and also a last line that has no end. Returns nil at the end,
    /// and when the task is cancelled.
    mutating func next() async throws(BadInput) -> String? {
        try await nextOctets().map { String(decoding: $0, as: UTF8.self) }
    }

    /// As `next`, for a line of any octets.
    mutating func nextOctets() async throws(BadInput) -> [UInt8]? {
        while true {
            if let end = octets.firstIndex(of: UInt8(ascii: "\n")) {
                defer { octets.removeFirst(end + 1) }
                return Self.line(octets[..<end])
            }
            guard !isAtEnd else {
                defer { octets = [] }
                return octets.isEmpty ? nil : Self.line(octets[...])
            }
            guard octets.count < Self.limit else {
                throw BadInput("a line has more than \(Self.limit) octets")
            }
            // A descriptor that cannot be waited for, such as a file, is ready.
            _ = await loop.readiness(of: descriptor, for: .read)
            if Task.isCancelled { return nil }
            try read()
        }
    }

    private mutating func read() throws(BadInput) {
        var count = -1
        let chunk = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, initialized in
            repeat {
                count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        if count < 0, errno == EAGAIN { return }
        guard count >= 0 else {
            throw BadInput(
                "cannot be read: \(strerror(errno).map { String(cString: $0) } ?? "error \(errno)")")
        }
        octets += chunk
        isAtEnd = count == 0
    }

    private static func line(_ octets: ArraySlice<UInt8>) -> [UInt8] {
        Array(octets.last == UInt8(ascii: "\r") ? octets.dropLast() : octets)
    }
}
