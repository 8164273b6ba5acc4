import BLECore
import HCI

/// The link types of pcap files that hold HCI packets (tcpdump.org, "Link-layer header types").
enum PcapLinkType: UInt32 {
    /// H4 without a direction.
    case h4 = 187
    /// H4 after four octets that tell the direction.
    case h4WithDirection = 201
}

/// The records of a pcap file, in either byte order, with microseconds or nanoseconds.
struct Pcap: RecordFormat {
    var bigEndian: Bool
    var nanoseconds: Bool
    var linkType: PcapLinkType

    /// Octets of the file's header.
    static let fileHeaderCount = 24

    var headerCount: Int { 16 }
    var leastBody: Int { linkType == .h4 ? 1 : 5 }

    func header(_ reader: inout ByteReader) throws(DecodeError) -> RecordHeader {
        let seconds = try word(&reader, "seconds")
        let fraction = try word(&reader, "fraction")
        guard fraction < (nanoseconds ? 1_000_000_000 : 1_000_000) else {
            throw reader.invalid("fraction", value: fraction, width: 4)
        }
        let included = try word(&reader, "included length")
        let original = try word(&reader, "original length")
        let microseconds = Int64(seconds) * 1_000_000 + Int64(nanoseconds ? fraction / 1000 : fraction)
        return try RecordHeader(
            included: included, original: original, least: leastBody,
            time: RecordingTime(microseconds: microseconds), reader)
    }

    private func word(_ reader: inout ByteReader, _ field: String) throws(DecodeError) -> UInt32 {
        bigEndian ? try reader.bigEndian32(field) : try reader.u32(field)
    }

    func record(_ header: RecordHeader, _ body: Span<UInt8>) -> Record {
        let packet = [UInt8](copying: body.extracting(droppingFirst: linkType == .h4 ? 0 : 4))
        // The direction is the lowest bit of a big-endian word, whatever the byte order of the file.
        let direction =
            linkType == .h4
            ? Self.guessed(packet) : body[3] & 1 == 0 ? .hostToController : .controllerToHost
        return Record(time: header.time, content: .packet(direction, packet), missing: header.missing)
    }

    /// The direction of a packet that does not tell it: commands are the host's, events the controller's,
    /// and only hosts begin ACL data with the boundary flag 0b00 (Core Specification 5.4, Vol 4, Part E,
    /// 5.4.2); other data is taken for the controller's.
    private static func guessed(_ packet: [UInt8]) -> Record.Direction {
        let type = packet.first.map(HCIPacketType.init(rawValue:))
        return switch type {
        case HCIPacketType.command: .hostToController
        case HCIPacketType.acl where packet.count > 2 && packet[2] & 0x30 == 0: .hostToController
        default: .controllerToHost
        }
    }
}
