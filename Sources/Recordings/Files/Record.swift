import BLECore
import HCI

/// One record of a recording, whatever the file's format.
package struct Record: Hashable, Sendable {
    /// The direction of a packet.
    package typealias Direction = HCIDirection

    package enum Content: Hashable, Sendable {
        /// An HCI packet as H4 has it: the octet of its type, then the packet (Core Specification 5.4, Vol 4,
        /// Part A, 2).
        case packet(Direction, [UInt8])
        /// What a monitor reports beside packets: adapters that come and go, log lines, mgmt traffic.
        case note(MonitorOpcode, [UInt8])
    }

    package var time: RecordingTime
    /// The index of the adapter; 0 where the format has none.
    package var adapter: UInt16
    package var content: Content
    /// Whether neither the file nor the packet itself gives the packet's direction. A `Dissector` can derive it from
    /// the packets before.
    package var isDirectionGuessed: Bool
    /// Octets at the end of the packet that the recorder left out.
    package var missing: Int
    /// Packets that the recorder had lost by then, since the recording began.
    package var drops: UInt32

    package init(
        time: RecordingTime, adapter: UInt16 = 0, content: Content, missing: Int = 0, drops: UInt32 = 0,
        isDirectionGuessed: Bool = false
    ) {
        self.time = time
        self.adapter = adapter
        self.content = content
        self.missing = missing
        self.drops = drops
        self.isDirectionGuessed = isDirectionGuessed
    }
}

extension Record.Content {
    /// A message of the monitor channel: `body` is what follows the header of opcode, index and length.
    package init(_ opcode: MonitorOpcode, _ body: Span<UInt8>) {
        if let packet = opcode.packet {
            self = .packet(packet.direction, [UInt8](packet.type.rawValue, then: body))
        } else {
            self = .note(opcode, [UInt8](copying: body))
        }
    }
}
