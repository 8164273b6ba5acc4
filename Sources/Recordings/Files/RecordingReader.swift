import BLECore

/// Reads btsnoop files (datalinks 1001, 1002 and 2001), pcap files and pcapng files (link types 187, 201 and 254)
/// from chunks of any size, and keeps no more than a chunk and the longest record.
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
    /// Where the unread part of `buffer` begins, in it and in the file.
    private var head = 0
    private var offset = 0
    private var finished = false
    private var format: (any RecordFormat)?
    private var damage: RecordingDamage?
    private var times = RecordingTimes()

    /// A reader at the start of a file.
    package init() {}

    /// Appends the next octets of the file.
    package mutating func receive(_ chunk: Span<UInt8>) {
        buffer.removeFirst(head)
        head = 0
        buffer.reserveCapacity(buffer.count + chunk.count)
        for index in chunk.indices { buffer.append(chunk[index]) }
    }

    /// Says that the file has ended, so that a cut record is damage instead of a reason to wait.
    package mutating func finish() { finished = true }

    /// The next record or gap; nil when more chunks are needed or, after `finish`, when there is nothing
    /// left. Throws when the file is no recording, and then always again.
    package mutating func next() throws(RecordingError) -> RecordingItem? {
        guard var format = try openFormat() else { return nil }
        while true {
            switch look(format, at: head) {
            case .wait: return nil
            case .end:
                consume(available)
                return damage.take().map { .damage($0) }
            case .good(let header, let end):
                // The state that an invalid record has changed is discarded.
                var after = format
                let record: Record?
                do throws(DecodeError) {
                    let body = buffer.span.extracting((head + format.headerCount)..<end)
                    record = try after.record(header, body)
                } catch {
                    skip(error)
                    continue
                }
                // A leap of time may be that of octets that are missing, after which the length is of no worth.
                let leaps = record.map { !times.admit($0.time) } ?? false
                if damage != nil || leaps, case let verdict = confirm(after, record, end), verdict != .yes {
                    if verdict == .wait { return nil }
                    skip(
                        ByteReader(buffer.span, of: "record").failure(
                            "timestamp", .malformed("is far from those around it")))
                    continue
                }
                // The record is read again after the gap before it has been reported.
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

    /// Packets so far that are of another kind than HCI, which pcapng files can have among them.
    package var leftOut: Int { format?.leftOut ?? 0 }

    /// The datalink of btsnoop that has a place for all records that were read so far: `.h4` unless a monitor made
    /// them.
    package var datalink: BTSnoopDatalink { format?.isOfMonitor ?? false ? .monitor : .h4 }

    /// Leaves an octet out that is part of no record.
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
    /// The file's format, once its header is there; the header is consumed.
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

    private enum Verdict { case yes, no, wait }

    /// Whether a header found after damage, or one whose time leaps, is a real one: packets have a known indicator,
    /// another good header or the end of the file follows, and its time is near to that of records before or of the
    /// record that follows. Where there was no damage before, it is also enough that both times are dates, or that the
    /// one that follows is near to those before.
    private func confirm(_ format: any RecordFormat, _ record: Record?, _ end: Int) -> Verdict {
        if case .packet(_, let bytes)? = record?.content, !(1...5).contains(bytes.first ?? 0) { return .no }
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
            // Nothing is wrong so far. Clocks are set, recordings are appended to others, blocks of pcapng may have no
            // time, and some are no packets.
            guard let next else { return .yes }
            let isOfSetClock = time.microseconds >= 0 && time.isNear(next.time)
            let areDates = time.isOfThisCentury && next.time.isOfThisCentury
            return isOfSetClock || areDates || times.admit(next.time) ? .yes : .no
        }
    }
}

/// The times of the records so far, of which damage may have changed some.
private struct RecordingTimes: Sendable {
    private var last: RecordingTime?
    /// The time of the last record that was near to the one before: a time that damage has changed is near to none.
    private var trusted: RecordingTime?

    mutating func note(_ time: RecordingTime) {
        if last?.isNear(time) ?? true { trusted = time }
        last = time
    }

    /// Whether a record of this time may follow.
    func admit(_ time: RecordingTime) -> Bool {
        guard let last else { return true }
        return last.isNear(time) || trusted?.isNear(time) ?? false
    }
}

extension RecordingTime {
    /// Whether less than 30 days are between the two.
    fileprivate func isNear(_ other: RecordingTime) -> Bool {
        let month: Int64 = 30 * 86_400 * 1_000_000
        let (distance, overflow) = microseconds.subtractingReportingOverflow(other.microseconds)
        return !overflow && distance.magnitude < month
    }

    /// Whether the year is 2000 to 2099: what is made of zeros is not.
    fileprivate var isOfThisCentury: Bool {
        (946_684_800_000_000..<4_102_444_800_000_000).contains(microseconds)
    }
}
