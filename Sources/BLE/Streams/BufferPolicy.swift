/// The policy of a stream for a value for which it has no room.
public enum BufferPolicy: Hashable, Sendable {
    /// The stream ends with `BLEError.overflow`, which names the limit, so that nothing is lost unnoticed.
    /// `limit` is the maximum number of values that wait, `octets` the maximum number of octets in all of
    /// them together; whichever is reached first counts.
    case overflow(limit: Int, octets: Int = .max)
    /// The oldest value is dropped, and `BoundedStream.dropped` counts it. A number less than 1 counts as 1.
    case newest(Int)

    /// A buffer of 1,024 values or 256 KiB, whichever is less; a full one ends the stream.
    public static let standard = BufferPolicy.overflow(limit: 1024, octets: 256 * 1024)
}

/// The limit that a stream's buffer has reached.
public enum BufferLimit: Hashable, Sendable, CustomStringConvertible {
    /// The maximum number of values that wait in the buffer.
    case values(Int)
    /// The maximum number of octets in all values together.
    case octets(Int)

    /// The limit with its unit, as in `1024 values`.
    public var description: String {
        switch self {
        case .values(let count): "\(count) values"
        case .octets(let count): "\(count) octets"
        }
    }
}
