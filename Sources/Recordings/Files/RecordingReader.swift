import BLECore

/// Reads btsnoop files (datalinks 1001, 1002 and 2001) and pcap files (link types 187 and 201) from chunks of
/// any size, and keeps no more than a chunk and the longest record.
///
/// ```swift
/// var reader = RecordingReader()
/// while let chunk = file.read() {
///     reader.receive(chunk.span)
///     while let item = try reader.next() { … }
/// }
/// reader.finish()
/// while let item = try reader.next() { … }
/// ```
public struct RecordingReader: Sendable {
    private var buffer: [UInt8] = []
    /// Where the unread part of `buffer` begins, in it and in the file.
    private var head = 0
    private var offset = 0
    private var finished = false
    private var format: (any RecordFormat)?
    private var damage: RecordingDamage?
    private var lastTime: RecordingTime?

    /// A reader at the start of a file.
    public init() {}

    /// Takes the next chunk.
    public mutating func receive(_ chunk: Span<UInt8>) {
        buffer.removeFirst(head)
        head = 0
        buffer.reserveCapacity(buffer.count + chunk.count)
        for index in chunk.indices { buffer.append(chunk[index]) }
    }

    /// Says that the file has ended, so that a cut record is damage instead of a reason to wait.
    public mutating func finish() { finished = true }

    /// The next record or gap; nil when more chunks are needed or, after `finish`, when there is nothing
    /// left. Throws when the file is no recording, and then always again.
    public mutating func next() throws(RecordingError) -> RecordingItem? {
        guard let format = try openFormat() else { return nil }
        while true {
            switch look(format, at: head) {
            case .wait: return nil
            case .end:
                consume(available)
                return damage.take().map { .damage($0) }
            case .good(let header, let end):
                if damage != nil, case let verdict = confirm(format, header, end), verdict != .yes {
                    if verdict == .wait { return nil }
                    consume(1)
                    continue
                }
                if let damage = damage.take() { return .damage(damage) }
                let record = record(format, header, end)
                consume(end - head)
                lastTime = header.time
                return .record(record)
            case .bad(let reason):
                damage = damage ?? RecordingDamage(offset: offset, skipped: 0, reason: reason)
                consume(1)
            }
        }
    }

    private var available: Int { buffer.count - head }

    private mutating func consume(_ count: Int) {
        head += count
        offset += count
        damage?.skipped += count
    }
}

extension RecordingReader {
    /// The file's format, once its header is there; the header is consumed.
    private mutating func openFormat() throws(RecordingError) -> (any RecordFormat)? {
        if let format { return format }
        guard let found = try RecordingHeader(buffer.span, whole: finished) else { return nil }
        consume(found.count)
        format = found.format
        return found.format
    }

    private enum Look {
        /// More octets are needed.
        case wait
        /// Nothing is left.
        case end
        case good(RecordHeader, end: Int)
        case bad(DecodeError)
    }

    /// What there is at `position` of the buffer.
    private func look(_ format: any RecordFormat, at position: Int) -> Look {
        guard position < buffer.count || !finished else { return .end }
        guard finished || buffer.count - position >= format.headerCount else { return .wait }
        var reader = ByteReader(buffer.span.extracting(droppingFirst: position), of: "record")
        do {
            let header = try format.header(&reader)
            guard reader.remaining < header.included else {
                return .good(header, end: position + format.headerCount + header.included)
            }
            guard finished else { return .wait }
            return .bad(
                reader.failure("body", .truncated(needed: header.included, available: reader.remaining)))
        } catch {
            return .bad(error)
        }
    }

    /// The record at the cursor, whose body ends at `end` of the buffer.
    private func record(_ format: any RecordFormat, _ header: RecordHeader, _ end: Int) -> Record {
        format.record(header, buffer.span.extracting((head + format.headerCount)..<end))
    }

    private enum Verdict { case yes, no, wait }

    /// Whether a header found after damage is a real one: packets have a known indicator, times do not leap,
    /// and another good header or the end of the file follows.
    private func confirm(_ format: any RecordFormat, _ header: RecordHeader, _ end: Int) -> Verdict {
        if case .packet(_, let bytes) = record(format, header, end).content,
            !(1...5).contains(bytes.first ?? 0)
        {
            return .no
        }
        let month: Int64 = 30 * 86_400 * 1_000_000
        if let lastTime {
            let (leap, overflow) = header.time.microseconds.subtractingReportingOverflow(
                lastTime.microseconds)
            guard !overflow, leap.magnitude < month else { return .no }
        }
        return switch look(format, at: end) {
        case .wait: .wait
        case .good, .end: .yes
        case .bad: .no
        }
    }
}
