import BLECore

/// The kernel's Bluetooth management protocol as far as this host needs it: the list of adapters, their
/// settings, power and LE, and the pairing of the kernel. libbluetooth has no header for it; the numbers are
/// from BlueZ's `doc/mgmt-api.txt`.
package enum Management {
    /// The settings that an adapter supports or has.
    package struct Settings: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The adapter is powered on.
        package static let powered = Settings(rawValue: 1 << 0)
        /// The adapter accepts connections.
        package static let connectable = Settings(rawValue: 1 << 1)
        /// The adapter can be discovered by other devices.
        package static let discoverable = Settings(rawValue: 1 << 3)
        /// Pairing creates bonds; otherwise the kernel rejects peers that request one.
        package static let bondable = Settings(rawValue: 1 << 4)
        /// Secure Simple Pairing is enabled, which LE Secure Connections require on a dual-mode adapter.
        package static let secureSimplePairing = Settings(rawValue: 1 << 6)
        /// Bluetooth Classic (BR/EDR) is enabled.
        package static let classic = Settings(rawValue: 1 << 7)
        package static let lowEnergy = Settings(rawValue: 1 << 9)
        /// The kernel advertises on this adapter.
        package static let advertising = Settings(rawValue: 1 << 10)
        /// LE Secure Connections are enabled.
        package static let secureConnections = Settings(rawValue: 1 << 11)
        /// The kernel uses resolvable private addresses.
        package static let privacy = Settings(rawValue: 1 << 13)
        /// The adapter's identity is a static random address.
        package static let staticAddress = Settings(rawValue: 1 << 15)
    }

    /// The kernel's information about an adapter.
    package struct Information: Hashable, Sendable, PacketDecodable {
        package static let packetName = "Read Controller Information"

        /// The public address; all zeros if the adapter has none.
        package var address: UInt64
        /// The HCI version of the adapter's controller.
        package var version: UInt8
        /// The company identifier of the manufacturer.
        package var manufacturer: UInt16
        /// The settings that the adapter supports.
        package var supported: Settings
        /// The settings that are enabled.
        package var current: Settings
        /// The name, up to the first zero in its 249 octets.
        package var name: String

        package init(decoding reader: inout ByteReader) throws(DecodeError) {
            address = try reader.u48("address")
            version = try reader.u8("HCI version")
            manufacturer = try reader.u16("manufacturer")
            supported = Settings(rawValue: try reader.u32("supported settings"))
            current = Settings(rawValue: try reader.u32("current settings"))
            _ = try reader.u24("class of device")
            name = String(decoding: try reader.bytes(249, "name").prefix { $0 != 0 }, as: UTF8.self)
            _ = try reader.bytes(11, "short name")
        }
    }

    package struct Packet: Hashable, Sendable, PacketCodable {
        package static let packetName = "management packet"
        /// The index in packets that do not concern an adapter.
        package static let noIndex: UInt16 = 0xffff

        /// The code of a command or event.
        package var code: UInt16
        /// The index of the adapter, or `noIndex`.
        package var index: UInt16
        /// The octets after the header.
        package var parameters: [UInt8]

        package init(code: UInt16, index: UInt16, parameters: [UInt8]) {
            self.code = code
            self.index = index
            self.parameters = parameters
        }

        package init(decoding reader: inout ByteReader) throws(DecodeError) {
            code = try reader.u16("code")
            index = try reader.u16("index")
            parameters = try reader.bytes(Int(try reader.u16("length")), "parameters")
        }

        /// The encoded size in octets: the 6 octets of the header and the parameters.
        package var encodedCount: Int { 6 + parameters.count }

        /// Writes the header and the parameters.
        package func encode(into output: inout OutputSpan<UInt8>) {
            output.u16(code)
            output.u16(index)
            output.u16(UInt16(truncatingIfNeeded: parameters.count))
            output.bytes(parameters)
        }
    }
}

extension Management {
    /// The response to Get Connections: the devices with links.
    package struct Connections: Hashable, Sendable, PacketDecodable {
        package static let packetName = "Get Connections"

        /// The number of links, including those of BR/EDR.
        package var count: Int
        /// The devices with an LE link.
        package var peers: [DeviceAddress]

        /// Reads the list and keeps its LE devices.
        package init(decoding reader: inout ByteReader) throws(DecodeError) {
            peers = []
            count = Int(try reader.u16("count"))
            for _ in 0..<count {
                if let peer = try reader.peer() { peers.append(peer) }
            }
        }
    }
}

// The encoding of a device on the management socket: six octets of address, then one octet with the transport
// and the type of the address: 0 for BR/EDR, 1 for an LE public address and 2 for an LE random one.

extension ByteReader {
    /// Reads a device; nil if it is a BR/EDR device.
    @_lifetime(self: copy self)
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

    /// Reads a device, which must be an LE device.
    @_lifetime(self: copy self)
    mutating func lowEnergyPeer() throws(DecodeError) -> DeviceAddress {
        guard let peer = try peer() else { throw invalid("address type", value: UInt8(0), width: 1) }
        return peer
    }
}

extension OutputSpan<UInt8> {
    /// Writes the six octets of the address and its type: 1 for public, 2 for random.
    @_lifetime(self: copy self)
    mutating func peer(_ address: DeviceAddress) {
        u48(address.value)
        u8(address.type.rawValue + 1)
    }
}
