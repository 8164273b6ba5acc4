import BLE
import BLECore
import Glibc
import HCISocket
import Recordings

/// A btsnoop recording that is being made, by `--capture` or `capture`.
///
/// Packets arrive on the radio's loop, which must not block, so a task writes them. Each record is written whole, so that
/// the file can be read meanwhile. Up to 64 MiB wait for a disk that is slower than the radio; records beyond that are
/// counted and reported at the end. After a failed write nothing more is recorded.
final class RecordingFile: Sendable {
    /// The records that wait for the disk, which the radio's loop adds to.
    private struct Waiting {
        /// The octets of the records; each element but the first begins a file.
        var files: [[UInt8]] = [[]]
        /// The number of records in `files`.
        var records = 0
        /// The number of octets in `files` and in the batch that is being written.
        var octets = 0
        /// Whether a task writes, which takes what is added meanwhile.
        var isWriting = false
        /// Whether the disk has refused a write.
        var hasFailed = false
        /// The number of records that are written or wait.
        var total = 0
        /// The number of records that found no room.
        var lost = 0
        /// The octets of the newest file.
        var size = 0
        /// The time when the newest file was begun.
        var began = ContinuousClock.now
    }

    /// The file that is written to.
    private struct Output: ~Copyable {
        var descriptor: CInt
        var number = 1
        /// The errno of the first write that failed.
        var problem: CInt?
    }

    private static let limit = 64 << 20

    private let path: String
    private let writer: RecordingWriter
    private let rotation: Rotation
    private let onFailure: @Sendable (String) -> Void
    private let waiting = Lock(Waiting())
    /// Held while the disk is written to, so never by the radio's loop.
    private let output: Lock<Output>

    /// Creates the file, or replaces an old one. `option` is named in errors; the path `-` is stdout.
    /// `onFailure` is called once, with a sentence, when a write fails. That the reader of stdout has gone is
    /// not a failure, but that the reader of a named pipe has gone is one.
    init(
        _ path: String, _ datalink: BTSnoopDatalink = .h4, rotation: Rotation = Rotation(),
        option: String = "--capture", onFailure: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(Failure) {
        if path == "-" { try LineWriter.output.refuseOctets("\(option) -") }
        (self.path, self.rotation, self.onFailure) = (path, rotation, onFailure)
        writer = RecordingWriter(datalink)
        let first = rotation.isThere ? Rotation.path(path, 1) : path
        let descriptor = path == "-" ? dup(STDOUT_FILENO) : Self.open(first)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure(errno == EACCES ? .permission : .input, "\(option) \(first)", reason)
        }
        output = Lock(Output(descriptor: descriptor))
        append(writer.header, isRecord: false)
    }

    deinit { output.withLock { _ = Glibc.close($0.descriptor) } }

    /// Opens or creates the file, and truncates it unless `keepsContent`. Returns the descriptor, or a
    /// negative number.
    static func open(_ path: String, keepsContent: Bool = false) -> CInt {
        Glibc.open(path, O_WRONLY | O_CREAT | (keepsContent ? 0 : O_TRUNC) | O_CLOEXEC, 0o644)
    }

    /// The function that receives the packets of an adapter.
    var sink: CaptureSink {
        { [self] direction, packet in add(.packet(direction, [UInt8](copying: packet))) }
    }

    /// Records a packet or note with the current time. Returns the number of records.
    @discardableResult
    func add(_ content: Record.Content, of adapter: UInt16 = 0) -> Int {
        let record = Record(
            time: RecordingTime(microseconds: WallClock.microseconds), adapter: adapter, content: content)
        guard let octets = writer.encode(record) else { return count }
        append(octets, isRecord: true)
        return count
    }

    /// The number of records that are written or wait. Lost ones do not count.
    var count: Int { waiting.withLock { $0.total } }

    var files: Int { output.withLock { $0.number } }

    /// Writes the records that wait. Returns a sentence when not all records are in the file.
    func close() -> String? {
        write()
        if let problem = output.withLock({ $0.problem }) { return sentence(problem) }
        let lost = waiting.withLock { $0.lost }
        return lost > 0 ? "\(path): \(lost) packets are missing, the disk was too slow" : nil
    }

    /// Returns a sentence about a failed write, or nil if the reader of stdout has gone.
    private func sentence(_ problem: CInt) -> String? {
        problem == EPIPE && path == "-" ? nil : "\(path): \(String(cString: strerror(problem)))"
    }

    private func append(_ octets: [UInt8], isRecord: Bool) {
        let mustStart = waiting.withLock { waiting -> Bool in
            guard !waiting.hasFailed else { return false }
            guard waiting.octets + octets.count <= Self.limit else {
                waiting.lost += 1
                return false
            }
            if isRecord {
                waiting.total += 1
                waiting.records += 1
                if isDue(waiting, octets.count) {
                    waiting.files.append(writer.header)
                    waiting.octets += writer.header.count
                    (waiting.size, waiting.began) = (writer.header.count, .now)
                }
            }
            waiting.files[waiting.files.count - 1] += octets
            waiting.size += octets.count
            waiting.octets += octets.count
            defer { waiting.isWriting = true }
            return !waiting.isWriting
        }
        if mustStart { Task { write() } }
    }

    /// Returns whether the next record begins another file. Each file contains at least one record.
    private func isDue(_ waiting: Waiting, _ count: Int) -> Bool {
        guard rotation.isThere, waiting.size > writer.header.count else { return false }
        return rotation.size.map { waiting.size + count > $0 } ?? false
            || rotation.time.map { ContinuousClock.now - waiting.began >= $0 } ?? false
    }

    /// Writes batches of records until none waits.
    private func write() {
        let failure = output.withLock { output -> CInt? in
            let hadFailed = output.problem != nil
            while let (files, records) = takeBatch() {
                for (index, octets) in files.enumerated() where output.problem == nil {
                    if index > 0 { rotate(&output) }
                    if output.problem == nil {
                        output.problem = File.write(octets, to: output.descriptor)
                    }
                }
                let isWritten = output.problem == nil
                waiting.withLock { waiting in
                    waiting.octets -= files.reduce(0) { $0 + $1.count }
                    guard !isWritten else { return }
                    waiting.hasFailed = true
                    waiting.total -= records
                }
            }
            return hadFailed ? nil : output.problem
        }
        if let failure, let sentence = sentence(failure) { onFailure(sentence) }
    }

    /// Takes the records that wait; nil, and the writing has ended, when there are none.
    private func takeBatch() -> (files: [[UInt8]], records: Int)? {
        waiting.withLock { waiting in
            guard waiting.files != [[]] else {
                waiting.isWriting = false
                return nil
            }
            defer { (waiting.files, waiting.records) = ([[]], 0) }
            return (waiting.files, waiting.records)
        }
    }

    /// Continues in the next file. Removes the oldest file if there are too many.
    private func rotate(_ output: inout Output) {
        Glibc.close(output.descriptor)
        output.descriptor = Self.open(Rotation.path(path, output.number + 1))
        guard output.descriptor >= 0 else {
            output.problem = errno
            return
        }
        output.number += 1
        if let kept = rotation.kept, output.number > kept {
            unlink(Rotation.path(path, output.number - kept))
        }
    }
}

/// When a recording continues in another file, and how many files are kept.
struct Rotation: Hashable, Sendable {
    /// The size after which a new file begins, in octets.
    var size: Int?
    /// The time after which a new file begins.
    var time: Duration?
    /// The number of files to keep, or nil for all. The oldest one is removed when there are more.
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
        // A dot at the start of a name does not begin an extension.
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(path)-\(padded)" }
        return "\(path[..<dot])-\(padded)\(path[dot...])"
    }

    /// Parses a size in octets: `500000`, `500k`, `10M`, `1G`.
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
