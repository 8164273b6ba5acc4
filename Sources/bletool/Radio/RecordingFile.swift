import BLE
import BLECore
import Glibc
import HCISocket
import Recordings

/// A recording that is being made, as btsnoop: `--capture`, and `capture`.
///
/// Packets come on the radio's loop, which must not block, so a task writes them; each record goes out whole, so that
/// the file can be read meanwhile. Of a disk that is slower than the radio 64 MiB wait; what comes then is counted
/// and reported at the end.
final class RecordingFile: Sendable {
    private struct State: ~Copyable {
        /// What is to be written; each element but the first begins a file.
        var waiting: [[UInt8]] = [[]]
        var waitingCount = 0
        var isWriting = false
        var lost = 0
        var problem: CInt?
        var records = 0
        /// Of the newest file: octets, and when it was begun.
        var size = 0
        var began = ContinuousClock.now
        /// Of the file that is written to.
        var descriptor: CInt
        var number = 1
    }

    private static let limit = 64 << 20

    private let path: String
    private let writer: RecordingWriter
    private let rotation: Rotation
    private let state: Lock<State>

    /// Makes the file; an old one is replaced. `option` is named in errors; the path `-` is stdout.
    init(
        _ path: String, _ datalink: BTSnoopDatalink = .h4, rotation: Rotation = Rotation(),
        option: String = "--capture"
    ) throws(Failure) {
        if path == "-" { try LineWriter.output.refuseOctets("\(option) -") }
        (self.path, self.rotation) = (path, rotation)
        writer = RecordingWriter(datalink)
        let first = rotation.isThere ? Rotation.path(path, 1) : path
        let descriptor = path == "-" ? dup(STDOUT_FILENO) : Self.open(first)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure(errno == EACCES ? .permission : .input, "\(option) \(first)", reason)
        }
        state = Lock(State(descriptor: descriptor))
        append(writer.header, isRecord: false)
    }

    deinit { state.withLock { _ = Glibc.close($0.descriptor) } }

    /// Makes the file, or empties it, where it is not to keep what it has; the descriptor, or a negative number.
    static func open(_ path: String, keepsContent: Bool = false) -> CInt {
        Glibc.open(path, O_WRONLY | O_CREAT | (keepsContent ? 0 : O_TRUNC) | O_CLOEXEC, 0o644)
    }

    /// What an adapter hands its packets to.
    var sink: CaptureSink {
        { [self] direction, packet in add(.packet(direction, [UInt8](copying: packet))) }
    }

    /// Records what has just been seen; gives how many records there are then.
    @discardableResult
    func add(_ content: Record.Content, of adapter: UInt16 = 0) -> Int {
        let record = Record(
            time: RecordingTime(microseconds: WallClock.microseconds), adapter: adapter, content: content)
        guard let octets = writer.encode(record) else { return count }
        append(octets, isRecord: true)
        return count
    }

    /// The number of records so far. Lost ones do not count.
    var count: Int { state.withLock { $0.records } }

    var files: Int { state.withLock { $0.number } }

    /// Writes what waits; a sentence when not all packets are in the file.
    func close() -> String? {
        flush()
        return state.withLock { state -> String? in
            if let problem = state.problem, problem != EPIPE || path != "-" {
                return "\(path): \(String(cString: strerror(problem)))"
            }
            return state.lost > 0 ? "\(path): \(state.lost) packets are missing, the disk was too slow" : nil
        }
    }

    private func append(_ octets: [UInt8], isRecord: Bool) {
        let mustStart = state.withLock { state -> Bool in
            guard state.waitingCount + octets.count <= Self.limit else {
                state.lost += 1
                return false
            }
            if isRecord {
                state.records += 1
                if isDue(state, octets.count) {
                    state.waiting.append(writer.header)
                    (state.size, state.began) = (writer.header.count, .now)
                }
            }
            state.waiting[state.waiting.count - 1] += octets
            state.size += octets.count
            state.waitingCount += octets.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mustStart { Task { flush() } }
    }

    /// Whether the next record belongs into another file. A file holds one record at least.
    private func isDue(_ state: borrowing State, _ count: Int) -> Bool {
        guard rotation.isThere, state.size > writer.header.count else { return false }
        return rotation.size.map { state.size + count > $0 } ?? false
            || rotation.time.map { ContinuousClock.now - state.began >= $0 } ?? false
    }

    private func flush() {
        state.withLock { state in
            state.isWriting = false
            for (index, octets) in state.waiting.enumerated() {
                if index > 0 { rotate(&state) }
                if state.problem == nil { state.problem = File.write(octets, to: state.descriptor) }
            }
            state.waiting = [[]]
            state.waitingCount = 0
        }
    }

    /// Goes on in the next file.
    private func rotate(_ state: inout State) {
        guard state.problem == nil else { return }
        Glibc.close(state.descriptor)
        state.descriptor = Self.open(Rotation.path(path, state.number + 1))
        guard state.descriptor >= 0 else {
            state.problem = errno
            return
        }
        state.number += 1
        if let kept = rotation.kept, state.number > kept { unlink(Rotation.path(path, state.number - kept)) }
    }
}

/// When a recording goes on in another file, and how many files are kept.
struct Rotation: Hashable, Sendable {
    /// The size after which a new file begins, in octets.
    var size: Int?
    /// How long a file is written to.
    var time: Duration?
    /// How many files are kept; the oldest is removed when there are more. nil: all.
    var kept: Int?

    /// Whether there is more than one file.
    var isThere: Bool { size != nil || time != nil }
}

extension Rotation {
    /// The path of a recording's file: `a.btsnoop` becomes `a-0001.btsnoop`.
    static func path(_ path: String, _ number: Int) -> String {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        // A dot that begins a name is no extension's.
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(path)-\(padded)" }
        return "\(path[..<dot])-\(padded)\(path[dot...])"
    }

    /// The octets that a text spells: `500000`, `500k`, `10M`, `1G`.
    static func octets(text: String) throws(BadInput) -> Int {
        let units: [Character: Int] = ["k": 1000, "K": 1000, "M": 1_000_000, "G": 1_000_000_000]
        let unit = text.last.flatMap { units[$0] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard let number = Int.number(digits), number > 0,
            case let (octets, over) = number.multipliedReportingOverflow(by: unit ?? 1), !over
        else {
            throw BadInput("\(text.quoted) is not a size", hint: "a size is 500000, 500k, 10M or 1G")
        }
        return octets
    }
}
