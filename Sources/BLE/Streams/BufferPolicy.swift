/// What a stream does with a value for which it has no room.
public enum BufferPolicy: Hashable, Sendable {
    /// The stream ends with `BLEError.overflow`, which names the limit, so that nothing is lost unnoticed.
    /// `limit` is a number of values, `octets` what they have together; whichever is met first counts.
    case overflow(limit: Int, octets: Int = .max)
    /// The oldest value goes, and `dropped` counts it. Of a number less than 1 the newest value is kept.
    case newest(Int)

    /// A buffer of 1,024 values or 256 KiB, whichever is less; a full one ends the stream.
    public static let standard = BufferPolicy.overflow(limit: 1024, octets: 256 * 1024)
}

/// The limit that a stream's buffer has met.
public enum BufferLimit: Hashable, Sendable, CustomStringConvertible {
    /// The number of values that may wait in the buffer.
    case values(Int)
    /// So many octets in all values together.
    case octets(Int)

    /// The limit with its unit, as in `1024 values`.
    public var description: String {
        switch self {
        case .values(let count): "\(count) values"
        case .octets(let count): "\(count) octets"
        }
    }
}
