import BLECore
import HCI

/// The link types of pcap and pcapng files that contain HCI packets (tcpdump.org, "Link-layer header types").
package enum PcapLinkType: UInt32 {
    /// H4 packets without a direction.
    case h4 = 187
    /// H4 packets after four octets that give the direction.
    case h4WithDirection = 201
    /// The Linux monitor channel: adapter and opcode, then the rest.
    case monitor = 254

    /// What the link types of other recordings hold, which are often taken for HCI, with those of btsnoop.
    ///
    /// TI's format needs a plugin, and other programs do not read those of btsnoop either.
    package static let readByTshark: Set<UInt32> = [189, 220, 249, 251, 256, 272]

    /// What the link types of other recordings hold, which are often taken for HCI, with those of btsnoop.
    package static let others: [UInt32: String] = [
        251: "packets on the air, as Ubertooth and Sniffle record them",
        256: "packets on the air, as Ubertooth and Sniffle record them",
        272: "packets on the air, as nRF Sniffer records them", 157: "packets on the air of a TI sniffer",
        189: "USB packets of Linux", 220: "USB packets of Linux", 249: "USB packets of Windows",
        1003: "HCI packets in frames of BCSP", 1004: "HCI packets in frames of the three-wire UART (H5)",
    ]

    /// The minimum length of a packet, in octets.
    var leastBody: Int {
        switch self {
        case .h4: 1
        case .h4WithDirection: 5
        case .monitor: 4
        }
    }

    /// Returns the record of a packet of at least `leastBody` octets. `direction` is the direction that the
    /// file gives apart from the packet, if any.
    func record(_ header: RecordHeader, _ body: Span<UInt8>, direction: HCIDirection? = nil) -> Record {
        let (adapter, content, isGuess) = content(body, direction)
        return Record(
            time: header.time, adapter: adapter, content: content, missing: header.missing,
            drops: header.drops, isDirectionGuessed: isGuess)
    }

    private func content(
        _ body: Span<UInt8>, _ stated: HCIDirection?
    ) -> (adapter: UInt16, content: Record.Content, isGuess: Bool) {
        switch self {
        case .h4:
            let packet = [UInt8](copying: body)
            let direction = stated ?? Self.direction(of: packet)
            return (0, .packet(direction ?? .controllerToHost, packet), direction == nil)
        case .h4WithDirection:
            // The direction is the lowest bit of a big-endian word, whatever the byte order of the file.
            let direction: HCIDirection = body[3] & 1 == 0 ? .hostToController : .controllerToHost
            return (0, .packet(direction, [UInt8](copying: body.extracting(droppingFirst: 4))), false)
        case .monitor:
            let opcode = MonitorOpcode(rawValue: UInt16(body[2]) << 8 | UInt16(body[3]))
            let content = Record.Content(opcode, body.extracting(droppingFirst: 4))
            return (UInt16(body[0]) << 8 | UInt16(body[1]), content, false)
        }
    }

    /// Returns the direction that follows from the packet itself; nil if it is ambiguous. Hosts send
    /// commands, controllers send events, and only hosts begin ACL data with the boundary flag 0b00 (Core
    /// Specification 5.4, Vol 4, Part E, 5.4.2). The caller assumes that other data come from the controller.
    private static func direction(of packet: [UInt8]) -> HCIDirection? {
        switch packet.first.map(HCIPacketType.init(rawValue:)) {
        case HCIPacketType.command: .hostToController
        case HCIPacketType.event: .controllerToHost
        case HCIPacketType.acl where packet.count > 2 && packet[2] & 0x30 == 0: .hostToController
        default: nil
        }
    }
}
