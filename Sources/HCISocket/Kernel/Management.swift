import BLECore

/// The kernel's Bluetooth management protocol as far as adapters are concerned: which there are, what
/// they are set to, power and LE. libbluetooth has no header for it; the numbers are those of BlueZ's
/// `doc/mgmt-api.txt`.
public enum Management {
    /// A command's code.
    public struct Opcode: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: UInt16
        /// The command with that number.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Lists the adapters.
        public static let readIndexList = Opcode(rawValue: 0x0003)
        /// Reads address, settings and name of one adapter.
        public static let readInformation = Opcode(rawValue: 0x0004)
        /// Switches power.
        public static let setPowered = Opcode(rawValue: 0x0005)
        /// Switches LE.
        public static let setLowEnergy = Opcode(rawValue: 0x000d)
    }

    /// What a command came to.
    public struct Status: RawRepresentable, Hashable, Sendable, Error {
        /// The number.
        public let rawValue: UInt8
        /// The status with that number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Done.
        public static let success = Status(rawValue: 0x00)
        /// The caller lacks CAP_NET_ADMIN.
        public static let permissionDenied = Status(rawValue: 0x14)
        /// There is no such adapter.
        public static let invalidIndex = Status(rawValue: 0x11)
        /// rfkill holds the radio off.
        public static let rfkilled = Status(rawValue: 0x12)
    }

    /// What an adapter can be, and is, set to.
    public struct Settings: OptionSet, Hashable, Sendable {
        /// The kernel's bits.
        public let rawValue: UInt32
        /// The settings with those bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The radio is on.
        public static let powered = Settings(rawValue: 1 << 0)
        /// Other devices may connect.
        public static let connectable = Settings(rawValue: 1 << 1)
        /// Other devices may find it.
        public static let discoverable = Settings(rawValue: 1 << 3)
        /// Pairing makes bonds.
        public static let bondable = Settings(rawValue: 1 << 4)
        /// Bluetooth Classic is on.
        public static let classic = Settings(rawValue: 1 << 7)
        /// LE is on.
        public static let lowEnergy = Settings(rawValue: 1 << 9)
        /// The kernel advertises.
        public static let advertising = Settings(rawValue: 1 << 10)
        /// LE Secure Connections are on.
        public static let secureConnections = Settings(rawValue: 1 << 11)
        /// The kernel uses private addresses.
        public static let privacy = Settings(rawValue: 1 << 13)
        /// The adapter's identity is a static random address.
        public static let staticAddress = Settings(rawValue: 1 << 15)
    }

    /// What the kernel knows of an adapter.
    public struct Information: Hashable, Sendable, PacketDecodable {
        /// For errors.
        public static let packetName = "Read Controller Information"

        /// The public address; all zeros when there is none.
        public var address: UInt64
        /// The HCI version.
        public var version: UInt8
        /// The manufacturer's company identifier.
        public var manufacturer: UInt16
        /// What can be set.
        public var supported: Settings
        /// What is set.
        public var current: Settings
        /// The name.
        public var name: String

        /// Reads the fields in order.
        public init(decoding reader: inout ByteReader) throws(DecodeError) {
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

    /// A packet of the socket.
    public struct Packet: Hashable, Sendable, PacketCodable {
        /// For errors.
        public static let packetName = "management packet"
        /// The index of packets that are about no adapter.
        public static let noIndex: UInt16 = 0xffff

        /// A command's or event's code.
        public var code: UInt16
        /// The adapter.
        public var index: UInt16
        /// What follows the header.
        public var parameters: [UInt8]

        /// A packet.
        public init(code: UInt16, index: UInt16, parameters: [UInt8]) {
            self.code = code
            self.index = index
            self.parameters = parameters
        }

        /// Reads the fields in order.
        public init(decoding reader: inout ByteReader) throws(DecodeError) {
            code = try reader.u16("code")
            index = try reader.u16("index")
            parameters = try reader.bytes(Int(try reader.u16("length")), "parameters")
        }

        /// The header and the parameters.
        public var encodedCount: Int { 6 + parameters.count }

        /// Writes the header and the parameters.
        public func encode(into output: inout OutputSpan<UInt8>) {
            output.u16(code)
            output.u16(index)
            output.u16(UInt16(truncatingIfNeeded: parameters.count))
            output.bytes(parameters)
        }
    }
}

extension Management.Status: CustomStringConvertible {
    /// BlueZ's text.
    public var description: String {
        let texts = [
            "success", "unknown command", "not connected", "failed", "connect failed",
            "authentication failed", "not paired", "no resources", "timeout", "already connected", "busy",
            "rejected", "not supported", "invalid parameters", "disconnected", "not powered", "cancelled",
            "invalid index", "blocked by rfkill", "already paired", "permission denied",
            "connection lost", "invalid authentication data",
        ]
        let index = Int(rawValue)
        return texts.indices.contains(index) ? texts[index] : "management status 0x\(rawValue.hex)"
    }
}
