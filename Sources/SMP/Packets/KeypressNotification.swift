/// What happens while a user enters a passkey (Core Specification 5.4, Vol 3, Part H,
/// 3.5.8, Table 3.8).
public struct KeypressNotification: RawRepresentable, Hashable, Sendable {
    /// The value.
    public let rawValue: UInt8

    /// The notification with that value.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Entry began.
    public static let started = KeypressNotification(rawValue: 0)
    /// A digit came.
    public static let digitEntered = KeypressNotification(rawValue: 1)
    /// A digit went.
    public static let digitErased = KeypressNotification(rawValue: 2)
    /// All digits went.
    public static let cleared = KeypressNotification(rawValue: 3)
    /// Entry ended.
    public static let completed = KeypressNotification(rawValue: 4)
}
