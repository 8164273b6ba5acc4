import BLECore

/// A packet of the Linux monitor channel: its type, the adapter that it concerns, and its content.
package struct MonitorPacket: PacketDecodable {
    package static let packetName = "monitor packet"

    package var opcode: MonitorOpcode
    /// The index of the adapter; 0xffff if the packet does not concern one.
    package var index: UInt16
    /// The octets after the header.
    package var body: [UInt8]

    /// Reads a header of 6 octets, whose numbers are little-endian, and as many octets as it states.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        opcode = MonitorOpcode(rawValue: try reader.u16("opcode"))
        index = try reader.u16("index")
        body = try reader.bytes(Int(try reader.u16("length")), "body")
    }

    /// The HCI packet with its type octet first, and its direction; nil for notes.
    package var packet: (direction: HCIDirection, octets: [UInt8])? {
        opcode.packet.map { ($0.direction, [$0.type.rawValue] + body) }
    }
}

/// The type of a record of the Linux monitor channel; the low half of the flags in btsnoop files with
/// datalink 2001.
package struct MonitorOpcode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// An adapter was registered.
    package static let newIndex = MonitorOpcode(rawValue: 0)
    /// An adapter was removed.
    package static let deleteIndex = MonitorOpcode(rawValue: 1)
    /// An HCI command from the host.
    package static let command = MonitorOpcode(rawValue: 2)
    /// An HCI event from the controller.
    package static let event = MonitorOpcode(rawValue: 3)
    /// ACL data from the host.
    package static let aclTransmit = MonitorOpcode(rawValue: 4)
    /// ACL data from the controller.
    package static let aclReceive = MonitorOpcode(rawValue: 5)
    /// Synchronous data from the host.
    package static let synchronousTransmit = MonitorOpcode(rawValue: 6)
    /// Synchronous data from the controller.
    package static let synchronousReceive = MonitorOpcode(rawValue: 7)
    /// An adapter was opened.
    package static let openIndex = MonitorOpcode(rawValue: 8)
    /// An adapter was closed.
    package static let closeIndex = MonitorOpcode(rawValue: 9)
    /// The address and manufacturer of an adapter.
    package static let indexInfo = MonitorOpcode(rawValue: 10)
    /// Diagnostics from the controller's vendor.
    package static let vendorDiagnostics = MonitorOpcode(rawValue: 11)
    /// A text from the kernel.
    package static let systemNote = MonitorOpcode(rawValue: 12)
    /// A text from a program.
    package static let userLogging = MonitorOpcode(rawValue: 13)
    /// A mgmt socket was opened.
    package static let controlOpen = MonitorOpcode(rawValue: 14)
    /// A mgmt socket was closed.
    package static let controlClose = MonitorOpcode(rawValue: 15)
    /// A command that a program sent over a mgmt socket.
    package static let controlCommand = MonitorOpcode(rawValue: 16)
    /// An event that the kernel sent over a mgmt socket.
    package static let controlEvent = MonitorOpcode(rawValue: 17)
    /// Isochronous data from the host.
    package static let isochronousTransmit = MonitorOpcode(rawValue: 18)
    /// Isochronous data from the controller.
    package static let isochronousReceive = MonitorOpcode(rawValue: 19)

    private static let names = [
        "New Index", "Delete Index", "Command", "Event", "ACL TX", "ACL RX", "SCO TX", "SCO RX", "Open Index",
        "Close Index", "Index Info", "Vendor Diagnostics", "System Note", "User Logging", "Control Open",
        "Control Close", "Control Command", "Control Event", "ISO TX", "ISO RX",
    ]

    /// The opcodes that carry HCI packets.
    private static let packets: [(opcode: MonitorOpcode, direction: HCIDirection, type: HCIPacketType)] =
        [
            (.command, .hostToController, .command),
            (.event, .controllerToHost, .event),
            (.aclTransmit, .hostToController, .acl),
            (.aclReceive, .controllerToHost, .acl),
            (.synchronousTransmit, .hostToController, .synchronous),
            (.synchronousReceive, .controllerToHost, .synchronous),
            (.isochronousTransmit, .hostToController, .iso),
            (.isochronousReceive, .controllerToHost, .iso),
        ]

    /// The direction and type of the packets with this opcode; nil for notes.
    package var packet: (direction: HCIDirection, type: HCIPacketType)? {
        Self.packets.first { $0.opcode == self }.map { ($0.direction, $0.type) }
    }

    /// Creates the opcode for packets of that direction and type; nil if the monitor has none, as for an
    /// event from the host.
    package init?(direction: HCIDirection, type: HCIPacketType) {
        let row = Self.packets.first { $0.direction == direction && $0.type == type }
        guard let row else { return nil }
        self = row.opcode
    }
}

extension MonitorOpcode: CustomStringConvertible {
    /// A name as in btmon, or `0x0014` for an unknown opcode.
    package var description: String {
        rawValue < Self.names.count ? Self.names[Int(rawValue)] : "0x" + rawValue.hex
    }
}
