import BLECore

/// One packet between host and controller. Its bytes are those of the UART transport: a type octet, then
/// the packet (Core Specification 5.4, Vol 4, Part A, 2).
public enum HCIPacket: Hashable, Sendable {
    /// From the host: do this.
    case command(HCICommandPacket)
    /// Either way: data of an LE or BR/EDR connection.
    case acl(ACLPacket)
    /// Either way: synchronous (voice) data.
    case synchronous(SynchronousPacket)
    /// From the controller: this happened.
    case event(HCIEventPacket)
    /// Either way: isochronous data.
    case iso(ISOPacket)
}

/// The octet before a packet on the UART transport (Core Specification 5.4, Vol 4, Part A, 2).
public struct HCIPacketType: HCICode {
    /// The octet.
    public let rawValue: UInt8
    /// The type of that octet.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A command.
    public static let command = HCIPacketType(rawValue: 0x01)
    /// ACL data.
    public static let acl = HCIPacketType(rawValue: 0x02)
    /// Synchronous data.
    public static let synchronous = HCIPacketType(rawValue: 0x03)
    /// An event.
    public static let event = HCIPacketType(rawValue: 0x04)
    /// Isochronous data.
    public static let iso = HCIPacketType(rawValue: 0x05)
}

extension HCIPacket: PacketCodable {
    /// For errors.
    public static let packetName = "HCI packet"

    /// The octet that comes first on the UART transport.
    public var type: HCIPacketType {
        switch self {
        case .command: .command
        case .acl: .acl
        case .synchronous: .synchronous
        case .event: .event
        case .iso: .iso
        }
    }

    /// Reads the type octet and the packet behind it.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
        let type = HCIPacketType(rawValue: try reader.u8("type"))
        switch type {
        case .command: self = .command(try HCICommandPacket(decoding: &reader))
        case .acl: self = .acl(try ACLPacket(decoding: &reader))
        case .synchronous: self = .synchronous(try SynchronousPacket(decoding: &reader))
        case .event: self = .event(try HCIEventPacket(decoding: &reader))
        case .iso: self = .iso(try ISOPacket(decoding: &reader))
        default: throw reader.invalid("type", value: type.rawValue, width: 1)
        }
    }

    /// The type octet and the packet.
    public var encodedCount: Int { 1 + payload.encodedCount }

    /// Writes the type octet and the packet.
    public func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(type.rawValue)
        payload.encode(into: &output)
    }

    private var payload: any PacketEncodable {
        switch self {
        case .command(let packet): packet
        case .acl(let packet): packet
        case .synchronous(let packet): packet
        case .event(let packet): packet
        case .iso(let packet): packet
        }
    }
}

/// A command: opcode, length, parameters (Core Specification 5.4, Vol 4, Part E, 5.4.1).
public struct HCICommandPacket: Hashable, Sendable {
    /// What to do.
    public let opcode: HCIOpcode
    /// With what: at most 255 octets.
    public let parameters: [UInt8]

    /// A command of these parameters. More than 255 octets of them are a programming error.
    public init(opcode: HCIOpcode, parameters: [UInt8] = []) {
        precondition(parameters.count <= 255, "a command takes at most 255 octets of parameters")
        self.opcode = opcode
        self.parameters = parameters
    }
}

extension HCICommandPacket: PacketCodable {
    /// For errors.
    public static let packetName = "HCI command"

    /// Reads the header and the octets that it counts.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
        opcode = HCIOpcode(rawValue: try reader.u16("opcode"))
        parameters = try reader.bytes(Int(try reader.u8("parameter length")), "parameters")
    }

    /// The header's 3 octets and the parameters.
    public var encodedCount: Int { 3 + parameters.count }

    /// Writes the header and the parameters.
    public func encode(into output: inout OutputSpan<UInt8>) {
        output.u16(opcode.rawValue)
        output.u8(UInt8(clamping: parameters.count))
        output.bytes(parameters)
    }
}

/// An event: code, length, parameters (Core Specification 5.4, Vol 4, Part E, 5.4.4).
public struct HCIEventPacket: Hashable, Sendable {
    /// What happened.
    public let code: HCIEventCode
    /// The details: at most 255 octets.
    public let parameters: [UInt8]

    /// An event of these parameters. More than 255 octets of them are a programming error.
    public init(code: HCIEventCode, parameters: [UInt8]) {
        precondition(parameters.count <= 255, "an event has at most 255 octets of parameters")
        self.code = code
        self.parameters = parameters
    }
}

extension HCIEventPacket: PacketCodable {
    /// For errors.
    public static let packetName = "HCI event"

    /// Reads the header and the octets that it counts.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
        code = HCIEventCode(rawValue: try reader.u8("event code"))
        parameters = try reader.bytes(Int(try reader.u8("parameter length")), "parameters")
    }

    /// The header's 2 octets and the parameters.
    public var encodedCount: Int { 2 + parameters.count }

    /// Writes the header and the parameters.
    public func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(code.rawValue)
        output.u8(UInt8(clamping: parameters.count))
        output.bytes(parameters)
    }
}
