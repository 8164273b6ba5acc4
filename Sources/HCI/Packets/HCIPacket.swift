import BLECore

/// A packet between host and controller. It is encoded as on the UART transport: a type octet, then the
/// packet (Core Specification 5.4, Vol 4, Part A, 2).
package enum HCIPacket: Hashable, Sendable {
    /// A command from the host.
    case command(HCICommandPacket)
    /// Data of an LE or BR/EDR connection, in either direction.
    case acl(ACLPacket)
    /// Synchronous (voice) data, in either direction.
    case synchronous(SynchronousPacket)
    /// An event from the controller.
    case event(HCIEventPacket)
    /// Isochronous data, in either direction.
    case iso(ISOPacket)
}

/// The octet before a packet on the UART transport (Core Specification 5.4, Vol 4, Part A, 2).
public struct HCIPacketType: HCICode {
    /// The packet indicator: the octet before the packet on a serial line or a socket.
    public let rawValue: UInt8
    /// Creates a type from its packet indicator (Vol 4, Part A, 2).
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A command from the host.
    public static let command = HCIPacketType(rawValue: 0x01)
    /// Data of a link, in either direction.
    public static let acl = HCIPacketType(rawValue: 0x02)
    /// Synchronous data, in either direction.
    public static let synchronous = HCIPacketType(rawValue: 0x03)
    /// An event from the controller.
    public static let event = HCIPacketType(rawValue: 0x04)
    /// Isochronous data, in either direction.
    public static let iso = HCIPacketType(rawValue: 0x05)
}

extension HCIPacket: PacketCodable {
    package static let packetName = "HCI packet"

    /// The octet that comes first on the UART transport.
    package var type: HCIPacketType {
        switch self {
        case .command: .command
        case .acl: .acl
        case .synchronous: .synchronous
        case .event: .event
        case .iso: .iso
        }
    }

    /// Reads the type octet and the packet after it.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
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

    /// The encoded size in octets: one for the type, plus the packet.
    package var encodedCount: Int { 1 + payload.encodedCount }

    /// Writes the type octet and the packet.
    package func encode(into output: inout OutputSpan<UInt8>) {
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

/// The direction of a packet between host and controller.
public enum HCIDirection: String, Hashable, Sendable {
    /// Commands and outgoing data.
    case hostToController = "host→controller"
    /// Events and incoming data.
    case controllerToHost = "controller→host"
}
