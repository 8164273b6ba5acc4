import BLECore

// How the management socket names devices: six octets, then the transport and the type of the address in one, 0 for
// BR/EDR, 1 for an LE public address and 2 for an LE random one.

extension ByteReader {
    /// The device; nil when it is one of BR/EDR.
    mutating func peer() throws(DecodeError) -> DeviceAddress? {
        let value = try u48("address")
        let type = try u8("address type")
        switch type {
        case 0: return nil
        case 1: return DeviceAddress(value, type: .public)
        case 2: return DeviceAddress(value, type: .random)
        default: throw invalid("address type", value: type, width: 1)
        }
    }

    /// The device, which is one of LE.
    mutating func lowEnergyPeer() throws(DecodeError) -> DeviceAddress {
        guard let peer = try peer() else { throw invalid("address type", value: UInt8(0), width: 1) }
        return peer
    }
}

extension OutputSpan<UInt8> {
    /// Writes the six octets of the address and its type: 1 for public, 2 for random.
    mutating func peer(_ address: DeviceAddress) {
        u48(address.value)
        u8(address.type.rawValue + 1)
    }
}
