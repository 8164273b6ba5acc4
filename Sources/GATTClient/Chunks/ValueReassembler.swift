import BLECore

/// Joins messages from parts that arrive one by one, as notifications or as writes. A part can end anywhere,
/// also in the middle of a delimiter, and can contain several messages.
///
/// ```swift
/// var lines = ValueReassembler(.delimiter([0x0a]), limit: 1024)
/// for try await part in try await device.values(of: uart) {
///     lines.receive(part.value, at: part.received)
///     while let line = try lines.next() { print(line) }
/// }
/// ```
public struct ValueReassembler: Sendable {
    /// How the end of a message is recognized.
    public enum Rule: Hashable, Sendable {
        /// The message has this many octets, 1 or more.
        case length(Int)
        /// The message begins after 1 to 8 octets that contain its length; these are not part of it. `trailer` octets
        /// follow that the length does not count, such as a checksum; these are part of the message.
        case prefixedLength(octets: Int, ByteOrder, trailer: Int = 0)
        /// These octets, one or more, follow the message; they are not part of it.
        case delimiter([UInt8])
        /// The message ends when no further part arrives for this time.
        case silence(Duration)
    }

    /// Which octet of a number comes first.
    public enum ByteOrder: Hashable, Sendable {
        /// The least significant octet comes first.
        case littleEndian
        /// The most significant octet comes first.
        case bigEndian
    }

    /// How the end of a message is recognized.
    package let rule: Rule
    /// The maximum length of one message in octets.
    package let limit: Int

    private var buffer: [UInt8] = []
    /// The number of octets at the beginning of the buffer that belong to messages which were taken.
    private var consumed = 0
    /// The index in the buffer before which no delimiter begins.
    private var searched = 0
    private var lastPart = Instant.zero
    /// Messages that ended because no further part arrived.
    private var ended: [[UInt8]] = []

    /// Creates a reassembler for messages of up to `limit` octets, 1 or more. A number in `rule` that is out of
    /// its range is replaced by the nearest one in it.
    public init(_ rule: Rule, limit: Int = 65_536) {
        self.limit = max(1, limit)
        self.rule =
            switch rule {
            case .length(let length): .length(max(1, length))
            case .prefixedLength(let octets, let order, let trailer):
                .prefixedLength(octets: min(max(1, octets), 8), order, trailer: max(0, trailer))
            case .delimiter, .silence: rule
            }
    }

    /// The number of octets that wait to become a message.
    public var pending: Int { buffer.count - consumed }

    /// Adds a part. Call `next` until it returns nil before adding the following part, because messages that
    /// are not taken are kept.
    public mutating func receive(_ part: some Sequence<UInt8>, at now: Instant) {
        expire(at: now)
        compact()
        buffer += part
        lastPart = now
    }

    /// Returns the next complete message, oldest first; nil when there is none. Throws `ValueTooLong` when a
    /// message is longer than the limit, or states a length that is. If the message ended by its delimiter or
    /// by silence, only that message is dropped; otherwise, all waiting octets are dropped.
    public mutating func next() throws(ValueTooLong) -> [UInt8]? {
        switch rule {
        case .length(let length):
            try check(length)
            return take(length)
        case .prefixedLength(let octets, let order, let trailer):
            guard let stated = length(octets, order) else { return nil }
            let (sum, isTooLong) = stated.addingReportingOverflow(trailer)
            let length = isTooLong ? Int.max : sum
            try check(length)
            return take(length, after: octets)
        case .delimiter(let delimiter): return try nextDelimited(delimiter)
        case .silence:
            let message = ended.isEmpty ? nil : ended.removeFirst()
            if let message, message.count > limit {
                throw ValueTooLong(limit: limit, octets: message.count)
            }
            if message == nil { try check(pending) }
            return message
        }
    }

    /// Advances the time to `now`. With `.silence`, the waiting octets can then be a complete message, which
    /// `next` returns. Call it at `deadline`: without a further part, no other call ends a message.
    public mutating func expire(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        if let message = take(pending) { ended.append(message) }
    }

    /// The time at which the waiting octets become a complete message if no part arrives before; nil for
    /// rules without a time, or when no octets wait.
    public var deadline: Instant? {
        guard case .silence(let duration) = rule, pending > 0 else { return nil }
        return lastPart + duration
    }

    // MARK: - The rules

    private mutating func take(_ count: Int, after skipped: Int = 0) -> [UInt8]? {
        guard pending - skipped >= count else { return nil }
        let start = consumed + skipped
        consumed = start + count
        return Array(buffer[start..<consumed])
    }

    /// Returns the length at the beginning; nil until it is complete. A length above `Int.max` becomes
    /// `Int.max`.
    private func length(_ octets: Int, _ order: ByteOrder) -> Int? {
        guard pending >= octets else { return nil }
        let digits = buffer[consumed..<(consumed + octets)]
        let ordered = order == .bigEndian ? Array(digits) : digits.reversed()
        return Int(clamping: ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    private mutating func nextDelimited(_ delimiter: [UInt8]) throws(ValueTooLong) -> [UInt8]? {
        guard !delimiter.isEmpty else {
            try check(pending)
            return nil
        }
        var at = max(consumed, searched)
        while at + delimiter.count <= buffer.count {
            guard buffer[at..<(at + delimiter.count)].elementsEqual(delimiter) else {
                at += 1
                continue
            }
            let message = consumed..<at
            consumed = at + delimiter.count
            searched = consumed
            if message.count > limit { throw ValueTooLong(limit: limit, octets: message.count) }
            return Array(buffer[message])
        }
        searched = at
        // The last octets can be the beginning of a delimiter.
        if at - consumed > limit { try check(pending) }
        return nil
    }

    /// Throws, and drops all waiting octets, if `octets`, the length of the message that has begun, is over
    /// the limit.
    private mutating func check(_ octets: Int) throws(ValueTooLong) {
        guard octets > limit else { return }
        buffer.removeAll()
        (consumed, searched) = (0, 0)
        throw ValueTooLong(limit: limit, octets: octets)
    }

    private mutating func compact() {
        buffer.removeFirst(consumed)
        searched = max(0, searched - consumed)
        consumed = 0
    }
}

/// The error of a message that is longer than its reassembler accepts.
public struct ValueTooLong: Error, Hashable, Sendable {
    /// The maximum length of a message in octets.
    public let limit: Int
    /// The length of the message in octets, actual or stated.
    public let octets: Int

    /// Creates the error of a message of `octets` octets where at most `limit` are accepted.
    package init(limit: Int, octets: Int) {
        self.limit = limit
        self.octets = octets
    }
}

extension ValueTooLong: CustomStringConvertible {
    /// `a message of 70000 octets, the limit is 65536`.
    public var description: String { "a message of \(octets) octets, the limit is \(limit)" }
}
