import BLECore

/// The address of the sender in out-of-band data (Core Specification Supplement v11, Part A, 1.16): six
/// octets of address, then one whose lowest bit is the type.
package struct LEDeviceAddress: Hashable, Sendable {
    package var address: DeviceAddress

    package init(_ address: DeviceAddress) { self.address = address }
}

extension LEDeviceAddress: PacketDecodable, PacketEncodable {
    package static var packetName: String { "LE Bluetooth Device Address" }

    /// Reads seven octets; reserved bits that are set are an error.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let value = try reader.u48("device address")
        let number = try reader.u8("address type")
        guard let type = DeviceAddress.AddressType(rawValue: number) else {
            throw reader.invalid("address type", value: number, width: 1)
        }
        address = DeviceAddress(value, type: type)
    }

    package var encodedCount: Int { 7 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u48(address.value)
        output.u8(address.type.rawValue)
    }
}
