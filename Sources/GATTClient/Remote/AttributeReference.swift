import ATT
import BLECore

/// An attribute whose value can be read or written: a characteristic or a descriptor that discovery found, or
/// a bare handle.
///
/// A handle that discovery found is checked before it is sent: if the server's database has changed since,
/// nothing is sent. The user of a bare handle is responsible for it.
public protocol AttributeReference: Sendable {
    /// The handle of the value.
    var valueHandle: AttributeHandle { get }
    /// The state of the server's database that the handle belongs to.
    var generation: DatabaseGeneration { get }
    /// The properties that the server declares for the value; nil for descriptors and bare handles.
    var declaredProperties: CharacteristicProperties? { get }
}

extension AttributeReference {
    /// Nil: no properties are declared.
    public var declaredProperties: CharacteristicProperties? { nil }
}

extension AttributeHandle: AttributeReference {
    /// The handle itself, which identifies the value.
    public var valueHandle: AttributeHandle { self }
    /// Unknown: a bare handle is not checked.
    public var generation: DatabaseGeneration { .unknown }
}

/// Identifies a state of one server's database, so that handles of an earlier state are detected. Comparisons
/// ignore it: two discoveries with the same result are equal.
public struct DatabaseGeneration: Hashable, Sendable {
    /// The number of the state; 0 if it is unknown.
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    /// The state of references that no discovery of this host has found. Such references are not checked.
    public static let unknown = DatabaseGeneration(0)

    /// Returns true for any two states, so that comparisons ignore them.
    public static func == (left: DatabaseGeneration, right: DatabaseGeneration) -> Bool { true }

    /// Adds nothing to the hash, since all states are equal.
    public func hash(into hasher: inout Hasher) {}
}
