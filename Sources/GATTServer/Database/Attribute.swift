import ATT
import BLECore

/// One row of a server's database (Core Specification 5.4, Vol 3, Part F, 3.2).
package struct Attribute: Sendable {
    /// What an attribute is for, as far as the server treats it in a way of its own.
    package enum Kind: Hashable, Sendable {
        /// A service, include or characteristic declaration.
        case declaration
        /// The value of a characteristic with these properties.
        case value(CharacteristicProperties)
        /// Where a client subscribes to the characteristic with this value handle and these properties. Its
        /// value is each link's own.
        case clientConfiguration(of: AttributeHandle, CharacteristicProperties)
        /// A descriptor other than a Client Characteristic Configuration.
        case descriptor
    }

    /// A value of the GATT service that the server makes or keeps itself.
    enum Role: Hashable, Sendable {
        /// The handles that changed; only ever indicated.
        case serviceChanged
        /// The features of the client that reads or writes it.
        case clientFeatures
        /// The hash of the database.
        case databaseHash
    }

    package let handle: AttributeHandle
    /// Its type; of a characteristic's value, the characteristic's UUID.
    package let type: BluetoothUUID
    /// What it is for.
    package let kind: Kind
    /// Who may read and write it.
    package let permissions: AttributePermissions
    /// How long its value may be.
    package let length: AttributeLength
    package internal(set) var value: [UInt8]
    /// The last attribute of the group that it begins, as services and characteristics do; else itself.
    package internal(set) var groupEnd: AttributeHandle

    /// Whether the value stays as it is.
    let isCached: Bool
    let role: Role?
    let onRead: ReadHandler?
    let onWrite: WriteHandler?

    init(
        _ handle: AttributeHandle, _ type: BluetoothUUID, _ kind: Kind, value: [UInt8],
        isCached: Bool = false, permissions: AttributePermissions = .readable, length: AttributeLength = .any,
        role: Role? = nil, onRead: ReadHandler? = nil, onWrite: WriteHandler? = nil
    ) {
        self.handle = handle
        self.type = type
        self.kind = kind
        self.value = value
        self.isCached = isCached
        self.permissions = permissions
        self.length = length
        self.role = role
        self.onRead = onRead
        self.onWrite = onWrite
        groupEnd = handle
    }
}
