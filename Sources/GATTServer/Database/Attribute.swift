import ATT
import BLECore

/// One row of a server's database (Core Specification 5.4, Vol 3, Part F, 3.2).
package struct Attribute: Sendable {
    /// The purpose of an attribute, as far as the server treats it specially.
    package enum Kind: Hashable, Sendable {
        /// A service, include or characteristic declaration.
        case declaration
        /// The value of a characteristic with these properties.
        case value(CharacteristicProperties)
        /// The Client Characteristic Configuration of the characteristic with this value handle and these
        /// properties. Each link has its own value.
        case clientConfiguration(of: AttributeHandle, CharacteristicProperties)
        /// A descriptor other than a Client Characteristic Configuration.
        case descriptor
    }

    /// A value of the GATT service that the server creates or maintains itself.
    enum Role: Hashable, Sendable {
        /// The handles that changed; sent only by indication.
        case serviceChanged
        /// The features of the client that reads or writes it.
        case clientFeatures
        /// The attribute Database Hash (7.3).
        case databaseHash
    }

    package let handle: AttributeHandle
    /// The type of the attribute; for a characteristic's value, the characteristic's UUID.
    package let type: BluetoothUUID
    /// The kind of declaration or value.
    package let kind: Kind
    /// The conditions for reading and writing the attribute.
    package let permissions: AttributePermissions
    /// The allowed length of the value.
    package let length: AttributeLength
    package internal(set) var value: [UInt8]
    /// The last attribute of the group that this attribute begins, as services and characteristics do;
    /// otherwise the attribute itself.
    package internal(set) var groupEnd: AttributeHandle
    /// Whether the type has 128 bits on the air, also if it has a form of 16.
    let hasLongType: Bool

    /// Whether the value never changes.
    let isCached: Bool
    let role: Role?
    let onRead: ReadHandler?
    let onWrite: WriteHandler?

    init(
        _ handle: AttributeHandle, _ type: BluetoothUUID, _ kind: Kind, value: [UInt8],
        isCached: Bool = false, hasLongType: Bool = false,
        permissions: AttributePermissions = .readable, length: AttributeLength = .any,
        role: Role? = nil, onRead: ReadHandler? = nil, onWrite: WriteHandler? = nil
    ) {
        self.handle = handle
        self.type = type
        self.kind = kind
        self.value = value
        self.isCached = isCached
        self.hasLongType = hasLongType
        self.permissions = permissions
        self.length = length
        self.role = role
        self.onRead = onRead
        self.onWrite = onWrite
        groupEnd = handle
    }
}

/// The value of an attribute after a write.
extension Attribute {
    /// Returns the value after a write of one PDU (Core Specification 5.4, Vol 3, Part F, 3.4.5.1). A value
    /// of fixed length keeps the octets that a shorter write does not reach. A Client Characteristic
    /// Configuration is written as a whole.
    func replacing(_ new: [UInt8]) throws(RequestResponder.Interruption) -> GATTWrite {
        guard new.count <= length.maximum else { throw .refused(.invalidAttributeValueLength, handle) }
        guard case .fixed(let count) = length, new.count < count, !isClientConfiguration else {
            return write(new)
        }
        return write(new + value[new.count...])
    }

    /// Returns the value after prepared writes, in order (3.4.6.3). Parts that begin at 0 make a new value,
    /// as a long write does; others change the present value.
    func applying(_ parts: [PreparedWrite]) throws(RequestResponder.Interruption) -> GATTWrite {
        var new = parts.first?.offset == 0 && !isFixed ? [] : value
        if isClientConfiguration { new = [] }
        for part in parts {
            guard part.offset <= new.count else { throw .refused(.invalidOffset, handle) }
            let end = part.offset + part.value.count
            guard end <= length.maximum else { throw .refused(.invalidAttributeValueLength, handle) }
            new.replaceSubrange(part.offset..<min(end, new.count), with: part.value)
        }
        return write(new)
    }

    private var isFixed: Bool { if case .fixed = length { true } else { false } }

    private var isClientConfiguration: Bool { if case .clientConfiguration = kind { true } else { false } }

    private func write(_ value: [UInt8]) -> GATTWrite { GATTWrite(handle: handle, uuid: type, value: value) }
}
