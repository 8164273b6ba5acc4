import BLE
import BLECore
import Glibc
import HCISocket
import Recordings

/// A btsnoop recording that is being made, by `--capture` or `capture`.
///
/// Packets arrive on the radio's loop, which must not block, so a task writes them. Each record is written as a
/// whole, so that the file can be read meanwhile. Up to 64 MiB wait for a disk that is slower than the radio;
/// records beyond that are counted and reported at the end. After a failed write nothing more is recorded, and
/// the file ends with the last whole record.
final class RecordingFile: Sendable {
    /// Records that are written to one file.
    private struct Part {
        var octets: [UInt8] = []
        /// The number of octets of the file's header, with which `octets` begins; 0 when it is written already.
        var header = 0
        /// The ends of the records in `octets`.
        var ends: [Int] = []
    }

    /// The records that wait for the disk, which the radio's loop adds to.
    private struct Waiting {
        /// The records; each part but the first begins a file.
        var parts = [Part()]
        /// The number of octets in `parts` and in the parts that are being written.
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

        /// Adds a record to the newest file.
        mutating func add(_ record: [UInt8]) {
            parts[parts.count - 1].octets += record
            parts[parts.count - 1].ends.append(parts[parts.count - 1].octets.count)
            size += record.count
            octets += record.count
            total += 1
        }

        /// Returns whether a task has to be started that writes.
        mutating func start() -> Bool {
            defer { isWriting = true }
            return !isWriting
        }

        /// Takes the records that wait. When there are none, the writing ends and the result is nil.
        mutating func take() -> [Part]? {
            guard parts.count > 1 || !parts[0].octets.isEmpty else {
                isWriting = false
                return nil
            }
            defer { parts = [Part()] }
            return parts
        }

        /// Notes that a part needs no room any more, and that so many of its records are in the file.
        mutating func settle(_ part: Part, records: Int, isWritten: Bool) {
            octets -= part.octets.count
            total -= part.ends.count - records
            if !isWritten { hasFailed = true }
        }
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
    private let onFailure: @Sendable (String?) -> Void
    private let waiting = Lock(Waiting())
    /// Held while the disk is written to, so never by the radio's loop.
    private let output: Lock<Output>

    /// Creates the file, or replaces an old recording. `option` is named in errors; the path `-` is stdout.
    /// `onFailure` is called once, with a sentence, when a write fails; with nil when it fails because the
    /// reader of stdout has gone, which is no error. It is one when the reader of a named pipe has gone.
    init(
        _ path: String, _ datalink: BTSnoopDatalink = .h4, rotation: Rotation = Rotation(),
        option: String = "--capture", onFailure: @escaping @Sendable (String?) -> Void
    ) throws(Failure) {
        if path == "-" { try LineWriter.output.refuseOctets("\(option) -") }
        (self.path, self.rotation, self.onFailure) = (path, rotation, onFailure)
        writer = RecordingWriter(datalink)
        let first = rotation.isThere ? Rotation.path(path, 1) : path
        if path != "-" { try Self.refuseOtherContent(of: first, option) }
        // A rotating recording does not claim the files that it has completed.
        if rotation.isThere, let file = Rotation.files(path).first(where: FileClaim.isTaken) {
            throw Self.failure(EWOULDBLOCK, "\(option) \(file)")
        }
        let descriptor =
            path == "-"
            ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
            : rotation.isThere ? Self.openNumbered(first) : Self.open(first)
        guard descriptor >= 0 else { throw Self.failure(errno, "\(option) \(first)") }
        output = Lock(Output(descriptor: descriptor))
        begin()
    }

    deinit { output.withLock { _ = Glibc.close($0.descriptor) } }

    private static func failure(_ problem: CInt, _ what: String) -> Failure {
        Failure(
            problem == EACCES ? .permission : .input, what, reason(problem),
            hint: problem == EWOULDBLOCK ? "each command needs a file of its own" : nil)
    }

    /// Opens or creates the file, claims it, and truncates it unless `keepsContent`. Only its owner can read a
    /// new file, because recordings of a pairing contain keys. Returns the descriptor, or a negative number.
    /// EWOULDBLOCK means that a process already records into the file.
    static func open(_ path: String, keepsContent: Bool = false) -> CInt {
        // Opening a pipe without a reader would block.
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return descriptor }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        var status = stat()
        // Several processes can write to a pipe or a device.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return descriptor }
        let isClaimed = FileClaim.claim(descriptor)
        if isClaimed, keepsContent || ftruncate(descriptor, 0) == 0 { return descriptor }
        let problem = isClaimed ? errno : EWOULDBLOCK
        Glibc.close(descriptor)
        errno = problem
        return -1
    }

    /// Creates a file whose name this program has made, in place of an earlier recording of this user. In a
    /// folder that others can write to, the name can be that of anything: EEXIST means that it is.
    private static func openNumbered(_ path: String) -> CInt {
        let present = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if present >= 0 {
            defer { Glibc.close(present) }
            var status = stat()
            let isRecording =
                fstat(present, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
                && status.st_uid == geteuid() && File.hasContent(present, otherThan: magic) == false
            errno = isRecording ? EWOULDBLOCK : status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EEXIST
            guard isRecording, !FileClaim.isTaken(present), unlink(path) == 0 else { return -1 }
        }
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 { _ = FileClaim.claim(descriptor) }
        return descriptor
    }

    /// Returns the reason why a recording cannot be opened or written.
    static func reason(_ problem: CInt) -> String {
        switch problem {
        case EWOULDBLOCK: "another process is recording into this file"
        case ENXIO: "no program reads from this pipe"
        default: String(cString: strerror(problem))
        }
    }

    /// Refuses to replace a file that is no btsnoop recording.
    static func refuseOtherContent(of path: String, _ option: String) throws(Failure) {
        guard hasOtherContent(path) else { return }
        throw Failure(
            .input, "\(option) \(path)", "the file exists and is no btsnoop recording",
            hint: "only a recording is replaced: name another file, or remove this one")
    }

    /// Returns whether a file has content that is not that of a btsnoop recording, or that cannot be read.
    private static func hasOtherContent(_ path: String) -> Bool {
        File.hasContent(path, otherThan: magic)
    }

    /// The beginning of each recording.
    private static let magic = Array(RecordingWriter(.h4).header.prefix(8))

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
        append(octets)
        return count
    }

    /// The number of records that are written or wait. Lost ones do not count.
    var count: Int { waiting.withLock { $0.total } }

    var files: Int { output.withLock { $0.number } }

    /// Writes the records that wait, and ends the claim of the file. Returns a sentence when not all records
    /// are in the file.
    func close() -> String? {
        write()
        let problem = output.withLock { output in
            if path != "-" { FileClaim.end(output.descriptor) }
            return output.problem
        }
        if let problem { return sentence(problem) }
        let lost = waiting.withLock { $0.lost }
        return lost > 0 ? "\(path): \(lost) packets are missing, the disk was too slow" : nil
    }

    /// Returns a sentence about a failed write, or nil if the reader of stdout has gone.
    private func sentence(_ problem: CInt) -> String? {
        switch problem {
        case EPIPE where path == "-": nil
        case EEXIST: "\(path): the next file exists and is no btsnoop recording"
        case EWOULDBLOCK: "\(path): another process is recording into the next file"
        default: "\(path): \(Self.reason(problem))"
        }
    }

    /// Lets the first file begin with its header.
    private func begin() {
        let mustStart = waiting.withLock { waiting in
            begin(&waiting)
            return waiting.start()
        }
        if mustStart { Task { write() } }
    }

    /// Adds the header of a file to the last part.
    private func begin(_ waiting: inout Waiting) {
        let header = writer.header
        waiting.parts[waiting.parts.count - 1].octets += header
        waiting.parts[waiting.parts.count - 1].header = header.count
        waiting.octets += header.count
        (waiting.size, waiting.began) = (header.count, .now)
    }

    private func append(_ record: [UInt8]) {
        let mustStart = waiting.withLock { waiting -> Bool in
            guard !waiting.hasFailed else { return false }
            guard waiting.octets + record.count <= Self.limit else {
                waiting.lost += 1
                return false
            }
            if isDue(waiting, record.count) {
                waiting.parts.append(Part())
                begin(&waiting)
            }
            waiting.add(record)
            return waiting.start()
        }
        if mustStart { Task { write() } }
    }

    /// Returns whether the next record begins another file. Each file contains at least one record.
    private func isDue(_ waiting: Waiting, _ count: Int) -> Bool {
        guard rotation.isThere, waiting.size > writer.header.count else { return false }
        return rotation.size.map { waiting.size + count > $0 } ?? false
            || rotation.time.map { ContinuousClock.now - waiting.began >= $0 } ?? false
    }

    /// Writes records until none waits.
    private func write() {
        let failure = output.withLock { output -> CInt? in
            let hadFailed = output.problem != nil
            while let parts = waiting.withLock({ $0.take() }) {
                for (index, part) in parts.enumerated() {
                    if index > 0, output.problem == nil { rotate(&output) }
                    let records = output.problem == nil ? Self.write(part, to: &output) : 0
                    waiting.withLock { $0.settle(part, records: records, isWritten: output.problem == nil) }
                }
            }
            return hadFailed ? nil : output.problem
        }
        if let failure { onFailure(sentence(failure)) }
    }

    /// Writes the records of a part, as many as possible. Returns the number of records in the file.
    private static func write(_ part: Part, to output: inout Output) -> Int {
        var written = 0
        output.problem = File.write(part.octets, to: output.descriptor, count: &written)
        guard output.problem != nil else { return part.ends.count }
        let whole = part.ends.prefix { $0 <= written }
        // Removes the beginning of a record from the file; a pipe or a device has no end to move.
        let cut = written - (whole.last ?? min(part.header, written))
        let end = lseek(output.descriptor, 0, SEEK_CUR)
        if cut > 0, end >= cut { _ = ftruncate(output.descriptor, end - off_t(cut)) }
        return whole.count
    }

    /// Continues in the next file. Removes the oldest file if there are too many.
    private func rotate(_ output: inout Output) {
        let next = Rotation.path(path, output.number + 1)
        let descriptor = Self.openNumbered(next)
        if descriptor < 0 { output.problem = errno }
        // The claim of this file ends after that of the next one begins, so that one of them is always claimed.
        Glibc.close(output.descriptor)
        output.descriptor = descriptor
        guard descriptor >= 0 else { return }
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

    /// Returns the paths of the existing files of a recording.
    static func files(_ path: String) -> [String] {
        let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let folder = opendir(end == path.startIndex ? "." : String(path[..<end])) else { return [] }
        defer { closedir(folder) }
        var files: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { octets in
                String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self)
            }
            // The number is in the place where the names of two numbers differ.
            let file = path[..<end] + name
            let digits = file.split(whereSeparator: { !($0.isASCII && $0.isNumber) }).compactMap { Int($0) }
            if digits.contains(where: { Self.path(path, $0) == file }) { files.append(String(file)) }
        }
        return files
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
