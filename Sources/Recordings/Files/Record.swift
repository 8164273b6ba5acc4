import BLECore
import HCI

/// One record of a recording, independent of the file format.
package struct Record: Hashable, Sendable {
    /// The direction of a packet.
    package typealias Direction = HCIDirection

    package enum Content: Hashable, Sendable {
        /// An HCI packet in H4 format: the octet of its type, then the packet (Core Specification 5.4, Vol 4,
        /// Part A, 2).
        case packet(Direction, [UInt8])
        /// A message of a monitor other than a packet: adapters added and removed, log lines, mgmt traffic.
        case note(MonitorOpcode, [UInt8])
    }

    package var time: RecordingTime
    /// The index of the adapter; 0 if the format has no index.
    package var adapter: UInt16
    package var content: Content
    /// Whether neither the file nor the packet itself gives the packet's direction. A `Dissector` can derive it from
    /// the packets before.
    package var isDirectionGuessed: Bool
    /// The number of octets at the end of the packet that the recorder omitted.
    package var missing: Int
    /// The number of packets that the recorder has lost since the recording began.
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
    /// Creates the content of a message of the monitor channel. `body` follows the header of opcode, index
    /// and length.
    package init(_ opcode: MonitorOpcode, _ body: Span<UInt8>) {
        if let packet = opcode.packet {
            self = .packet(packet.direction, [UInt8](packet.type.rawValue, then: body))
        } else {
            self = .note(opcode, [UInt8](copying: body))
        }
    }
}
