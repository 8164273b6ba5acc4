/// An event while a user enters a passkey (Core Specification 5.4, Vol 3, Part H, 3.5.8, Table 3.8).
public struct KeypressNotification: RawRepresentable, Hashable, Sendable {
    /// The octet of Keypress Notification (Core Specification 5.4, Vol 3, Part H, 3.5.8).
    public let rawValue: UInt8

    /// Creates a notification from its octet, which can be unknown.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The user has begun to enter the passkey.
    public static let started = KeypressNotification(rawValue: 0)
    /// The user has entered a digit.
    public static let digitEntered = KeypressNotification(rawValue: 1)
    /// The user has erased a digit.
    public static let digitErased = KeypressNotification(rawValue: 2)
    /// The user has erased all digits.
    public static let cleared = KeypressNotification(rawValue: 3)
    /// The user has entered the passkey.
    public static let completed = KeypressNotification(rawValue: 4)
}
