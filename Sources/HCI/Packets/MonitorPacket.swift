import BLECore

/// A packet of the Linux monitor channel: what it is, which adapter it is about, then the rest.
package struct MonitorPacket: PacketDecodable {
    package static let packetName = "monitor packet"

    package var opcode: MonitorOpcode
    /// The index of the adapter; 0xffff where it is about none.
    package var index: UInt16
    /// The octets after the header.
    package var body: [UInt8]

    /// Reads a header of 6 octets, all numbers little-endian, and as many octets as it says.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        opcode = MonitorOpcode(rawValue: try reader.u16("opcode"))
        index = try reader.u16("index")
        body = try reader.bytes(Int(try reader.u16("length")), "body")
    }

    /// The HCI packet in it with the octet of its type in front, and which way it went; nil for notes.
    package var packet: (direction: HCIDirection, octets: [UInt8])? {
        opcode.packet.map { ($0.direction, [$0.type.rawValue] + body) }
    }
}
