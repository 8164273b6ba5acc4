import BLE
import BLECore
import Glibc
import HCISocket
import Recordings

/// `--capture`: every HCI packet of the run, as btsnoop.
///
/// Packets come on the radio's loop, which must not block, so a task writes them. Of a disk that is slower
/// than the radio 64 MiB wait; what comes then is counted and told at the end.
final class RecordingFile: Sendable {
    private struct State: ~Copyable {
        var waiting: [UInt8] = []
        var isWriting = false
        var lost = 0
        var problem: CInt?
    }

    private static let limit = 64 << 20

    private let path: String
    private let descriptor: CInt
    private let writer = RecordingWriter(.h4)
    private let state = Lock(State())

    /// Makes the file; an old one is replaced.
    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw Failure(.input, "--capture \(path)", String(cString: strerror(errno)))
        }
        add(writer.header)
    }

    deinit { Glibc.close(descriptor) }

    /// What an adapter hands its packets to.
    var sink: CaptureSink {
        { [self] direction, packet in
            let record = Record(
                time: RecordingTime(microseconds: WallClock.microseconds),
                content: .packet(direction, [UInt8](copying: packet)))
            if let octets = writer.encode(record) { add(octets) }
        }
    }

    /// Writes what waits; a sentence when not all packets are in the file.
    func close() -> String? {
        flush()
        return state.withLock { state -> String? in
            if let problem = state.problem { return "\(path): \(String(cString: strerror(problem)))" }
            return state.lost > 0 ? "\(path): \(state.lost) packets are missing, the disk was too slow" : nil
        }
    }

    private func add(_ octets: [UInt8]) {
        let mustStart = state.withLock { state -> Bool in
            guard state.waiting.count + octets.count <= Self.limit else {
                state.lost += 1
                return false
            }
            state.waiting += octets
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mustStart { Task { flush() } }
    }

    private func flush() {
        state.withLock { state in
            state.isWriting = false
            var rest = state.waiting[...]
            while !rest.isEmpty, state.problem == nil {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    state.problem = errno
                }
            }
            state.waiting.removeAll(keepingCapacity: true)
        }
    }
}
