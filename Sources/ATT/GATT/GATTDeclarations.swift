import BLECore

/// The value of a Primary or Secondary Service declaration (Core Specification 5.4, Vol 3, Part G, 3.1).
package struct ServiceDeclaration: Hashable, PacketCodable {
    /// The service's UUID, in the width in which it was received.
    package var type: AttributeType

    /// Creates the declaration of the service `uuid`.
    package init(_ uuid: BluetoothUUID) { self.init(type: AttributeType(uuid)) }

    /// Creates the declaration of the service with this UUID, in this width.
    package init(type: AttributeType) { self.type = type }

    package var uuid: BluetoothUUID { type.uuid }

    package static var packetName: String { "service declaration" }

    /// Reads a declaration, which takes all remaining octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        type = try reader.attributeType("service UUID")
    }

    package var encodedCount: Int { type.width.rawValue }

    /// Writes the UUID in 2 or 16 octets.
    package func encode(into output: inout OutputSpan<UInt8>) { output.uuid(type.uuid, width: type.width) }
}

/// The value of an Include declaration (Core Specification 5.4, Vol 3, Part G, 3.2).
package struct IncludeDeclaration: Hashable, PacketCodable {
    /// The handle of the included service's declaration.
    package var start: AttributeHandle
    /// The last handle of the included service.
    package var end: AttributeHandle
    /// The included service's UUID if it has 16 bits; a longer one must be read from `start`.
    package var uuid: UInt16?

    /// Creates the declaration that includes the service at `start` to `end`; a UUID that is longer than 16
    /// bits is left out.
    package init(start: AttributeHandle, end: AttributeHandle, uuid: BluetoothUUID? = nil) {
        self.start = start
        self.end = end
        self.uuid = uuid?.uint16
    }

    package static var packetName: String { "include declaration" }

    /// Reads a declaration, which takes all remaining octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        start = try reader.handle("included service handle")
        end = try reader.handle("end group handle")
        uuid = reader.remaining == 0 ? nil : try reader.u16("service UUID")
    }

    /// The number of octets: 4, or 6 with a UUID.
    package var encodedCount: Int { uuid == nil ? 4 : 6 }

    /// Writes both handles, then the UUID if there is one.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.handle(start)
        output.handle(end)
        if let uuid { output.u16(uuid) }
    }
}

/// The value of a Characteristic declaration (Core Specification 5.4, Vol 3, Part G, 3.3.1).
package struct CharacteristicDeclaration: Hashable, PacketCodable {
    /// The operations that the value supports.
    package var properties: CharacteristicProperties
    /// The attribute that holds the value.
    package var valueHandle: AttributeHandle
    /// The characteristic's UUID, in the width in which it was received.
    package var type: AttributeType

    package init(properties: CharacteristicProperties, valueHandle: AttributeHandle, uuid: BluetoothUUID) {
        self.init(properties: properties, valueHandle: valueHandle, type: AttributeType(uuid))
    }

    package init(properties: CharacteristicProperties, valueHandle: AttributeHandle, type: AttributeType) {
        self.properties = properties
        self.valueHandle = valueHandle
        self.type = type
    }

    package var uuid: BluetoothUUID { type.uuid }

    package static var packetName: String { "characteristic declaration" }

    /// Reads a declaration, which takes all remaining octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        properties = CharacteristicProperties(rawValue: try reader.u8("properties"))
        valueHandle = try reader.handle("value handle")
        type = try reader.attributeType("characteristic UUID")
    }

    package var encodedCount: Int { 3 + type.width.rawValue }

    /// Writes the properties, the value handle and the UUID.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(properties.rawValue)
        output.handle(valueHandle)
        output.uuid(type.uuid, width: type.width)
    }
}
