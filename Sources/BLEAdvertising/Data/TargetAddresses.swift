import BLECore

/// The devices that an advertisement is directed at, all with addresses of one type (Core Specification
/// Supplement v11, Part A, 1.13 and 1.14).
package struct TargetAddresses: Hashable, Sendable {
    /// The type that all addresses have.
    package let type: DeviceAddress.AddressType
    /// The 48 bits of each address.
    private let values: [UInt64]

    /// Creates a list of devices from their 48-bit addresses, all of one type.
    package init(_ type: DeviceAddress.AddressType, _ values: [UInt64]) {
        self.type = type
        self.values = values.map { $0 & 0xffff_ffff_ffff }
    }

    package var addresses: [DeviceAddress] { values.map { DeviceAddress($0, type: type) } }

    var dataType: AdvertisingDataType { type == .public ? .publicTargetAddress : .randomTargetAddress }
}

extension TargetAddresses: PacketEncodable {
    package var encodedCount: Int { values.count * 6 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        for value in values { output.u48(value) }
    }

    /// Reads all remaining octets as addresses, at least one.
    init(decoding reader: inout ByteReader, type: DeviceAddress.AddressType) throws(DecodeError) {
        var values: [UInt64] = []
        repeat { values.append(try reader.u48("target address")) } while reader.remaining > 0
        self.init(type, values)
    }
}
