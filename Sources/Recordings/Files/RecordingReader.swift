import BLECore

/// Reads btsnoop files (datalinks 1001, 1002 and 2001), pcap files and pcapng files (link types 187, 201 and
/// 254) from chunks of any size, and buffers no more than a chunk and the longest record.
///
/// ```swift
/// var reader = RecordingReader()
/// while let chunk = file.read() {
///     reader.receive(chunk.span)
///     while let item = try reader.next() { print(item) }
/// }
/// reader.finish()
/// while let item = try reader.next() { print(item) }
/// ```
package struct RecordingReader: Sendable {
    private var buffer: [UInt8] = []
    /// The start of the unread part of `buffer`, as an index in the buffer and (`offset`) in the file.
    private var head = 0
    private var offset = 0
    private var finished = false
    private var format: (any RecordFormat)?
    private var damage: RecordingDamage?
    private var times = RecordingTimes()

    /// Creates a reader at the start of a file.
    package init() {}

    /// Appends the next octets of the file.
    package mutating func receive(_ chunk: Span<UInt8>) {
        buffer.removeFirst(head)
        head = 0
        buffer.reserveCapacity(buffer.count + chunk.count)
        for index in chunk.indices { buffer.append(chunk[index]) }
    }

    /// Marks the end of the file, so that a truncated record is reported as damage instead of waiting for
    /// more octets.
    package mutating func finish() { finished = true }

    /// Returns the next record or damaged part; nil when more chunks are needed or, after `finish`, at the
    /// end of the file. Throws if the file is not a recording, and then on every further call.
    package mutating func next() throws(RecordingError) -> RecordingItem? {
        guard var format = try openFormat() else { return nil }
        while true {
            switch look(format, at: head) {
            case .wait: return nil
            case .end:
                consume(available)
                return damage.take().map { .damage($0.atEndOfFile) }
            case .good(let header, let end):
                // State changes of an invalid record are discarded with this copy.
                var after = format
                let record: Record?
                do throws(DecodeError) {
                    let body = buffer.span.extracting((head + format.headerCount)..<end)
                    record = try after.record(header, body)
                } catch {
                    skip(error)
                    continue
                }
                // A leap in time can result from missing octets, in which case the length cannot be trusted.
                let leaps = record.map { !times.admit($0.time) } ?? false
                if damage != nil || leaps, case let verdict = confirm(after, record, end), verdict != .yes {
                    if verdict == .wait { return nil }
                    skip(
                        ByteReader(buffer.span, of: "record").failure(
                            "timestamp", .malformed("is far from those around it")))
                    continue
                }
                // The damage before the record is reported first, and the next call reads the record again.
                if let damage = damage.take() { return .damage(damage) }
                consume(end - head)
                format = after
                self.format = after
                if let record {
                    times.note(record.time)
                    return .record(record)
                }
            case .bad(let reason): skip(reason)
            }
        }
    }

    /// The number of packets so far that are not HCI packets, which pcapng files can contain.
    package var leftOut: Int { format?.leftOut ?? 0 }

    /// The btsnoop datalink that can represent all records that were read so far: `.h4` unless they are from
    /// a monitor.
    package var datalink: BTSnoopDatalink { format?.isOfMonitor ?? false ? .monitor : .h4 }

    /// Skips an octet that is not part of a valid record.
    private mutating func skip(_ reason: DecodeError?) {
        if damage == nil, let reason {
            damage = RecordingDamage(offset: offset, skipped: 0, reason: reason)
        }
        consume(1)
    }

    private var available: Int { buffer.count - head }

    private mutating func consume(_ count: Int) {
        head += count
        offset += count
        damage?.skipped += count
    }
}

extension RecordingReader {
    /// Returns the format of the file and consumes its header; returns nil until the header is complete.
    private mutating func openFormat() throws(RecordingError) -> (any RecordFormat)? {
        if let format { return format }
        guard let found = try RecordingHeader(buffer.span, whole: finished) else { return nil }
        consume(found.count)
        format = found.format
        return found.format
    }

    private enum Look {
        /// More octets are needed first.
        case wait
        /// The file ends at this position.
        case end
        case good(RecordHeader, end: Int)
        case bad(DecodeError)
    }

    /// Examines the record at `position` of the buffer.
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

    private enum Verdict { case yes, no, wait }

    /// Returns whether a record after damage, or a record whose time leaps, is valid: its packet has a known
    /// type octet, another valid header or the end of the file follows, and its time is near that of earlier
    /// records or of the next record. Without damage before it, it is also sufficient that both times are in
    /// this century, or that the next time is near that of earlier records.
    private func confirm(_ format: any RecordFormat, _ record: Record?, _ end: Int) -> Verdict {
        if case .packet(_, let bytes)? = record?.content, ![1, 2, 3, 4, 5, 7].contains(bytes.first ?? 0) {
            return .no
        }
        let isKnown = record.map { times.admit($0.time) } ?? true
        switch look(format, at: end) {
        case .wait: return .wait
        case .bad: return .no
        case .end: return isKnown || damage == nil ? .yes : .no
        case .good(let header, let nextEnd):
            if isKnown { return .yes }
            var after = format
            let body = buffer.span.extracting((end + format.headerCount)..<nextEnd)
            guard let time = record?.time else { return .no }
            let next: Record?
            do throws(DecodeError) { next = try after.record(header, body) } catch { return .no }
            guard damage == nil else {
                return time.isOfThisCentury && next.map { time.isNear($0.time) } ?? false ? .yes : .no
            }
            // There is no damage so far, so a leap can be legitimate: clocks are set, recordings are appended
            // to others, pcapng blocks can lack a time, and some blocks are not packets.
            guard let next else { return .yes }
            let isOfSetClock = time.microseconds >= 0 && time.isNear(next.time)
            let areDates = time.isOfThisCentury && next.time.isOfThisCentury
            return isOfSetClock || areDates || times.admit(next.time) ? .yes : .no
        }
    }
}

/// The times of the records so far, some of which can be damaged.
private struct RecordingTimes: Sendable {
    private var last: RecordingTime?
    /// The time of the last record that was near the time before it. A damaged time is not near any other.
    private var trusted: RecordingTime?

    mutating func note(_ time: RecordingTime) {
        if last?.isNear(time) ?? true { trusted = time }
        last = time
    }

    /// Returns whether this time is plausible for the next record.
    func admit(_ time: RecordingTime) -> Bool {
        guard let last else { return true }
        return last.isNear(time) || trusted?.isNear(time) ?? false
    }
}

extension RecordingTime {
    /// Returns whether the two times are less than 30 days apart.
    fileprivate func isNear(_ other: RecordingTime) -> Bool {
        let month: Int64 = 30 * 86_400 * 1_000_000
        let (distance, overflow) = microseconds.subtractingReportingOverflow(other.microseconds)
        return !overflow && distance.magnitude < month
    }

    /// Whether the year is 2000 to 2099; a time that consists of zeros is not.
    fileprivate var isOfThisCentury: Bool {
        (946_684_800_000_000..<4_102_444_800_000_000).contains(microseconds)
    }
}
