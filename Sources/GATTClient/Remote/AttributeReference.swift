import BLECore

/// Something whose value can be read or written: a characteristic or a descriptor that discovery found, or a
/// bare handle.
///
/// What discovery found is checked before its handle goes out: when the server's database has changed since,
/// nothing is sent. A bare handle is its user's responsibility.
public protocol AttributeReference: Sendable {
    /// The handle of the value.
    var valueHandle: AttributeHandle { get }
    /// The state of the server's database that the handle is of.
    var generation: DatabaseGeneration { get }
}

extension AttributeHandle: AttributeReference {
    /// The handle itself names the value.
    public var valueHandle: AttributeHandle { self }
    /// Unknown: a bare handle is not checked.
    public var generation: DatabaseGeneration { .unknown }
}

/// Names one state of one server's database, so that handles of an earlier one are detected. It takes no
/// part in comparisons: two discoveries that found the same are equal.
public struct DatabaseGeneration: Hashable, Sendable {
    /// The number; 0 where nothing is known.
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    /// The state of references that no discovery of this host has found, which are not checked.
    public static let unknown = DatabaseGeneration(0)

    /// Returns true for any two states, so that they take no part in comparisons.
    public static func == (left: DatabaseGeneration, right: DatabaseGeneration) -> Bool { true }

    /// Adds nothing to the hash, since all states are equal.
    public func hash(into hasher: inout Hasher) {}
}
