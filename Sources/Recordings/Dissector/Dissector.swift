import BLECore
import HCI

/// Explains the records of a recording, one after another. It remembers connections, so that fragments
/// become frames and data tells whose it is.
public struct Dissector: Sendable {
    private struct Link: Hashable {
        let adapter: UInt16
        let handle: ConnectionHandle
    }

    private struct Flow: Hashable {
        let link: Link
        let direction: Record.Direction
    }

    private var peers: [Link: DeviceAddress] = [:]
    private var flows: [Flow: ACLReassembler] = [:]

    /// More links than any controller has; only a damaged recording has more, and its oldest state is worth
    /// nothing.
    private static let flowLimit = 512

    /// A dissector at the start of a recording.
    public init() {}

    /// Explains the next record.
    public mutating func dissect(_ record: Record) -> DecodedPacket {
        switch record.content {
        case .note(let opcode, let bytes):
            let note = DecodedLayer(.monitor, name: opcode.description, bytes: bytes)
            return DecodedPacket(time: record.time, adapter: record.adapter, outer: note)
        case .packet(let direction, let bytes):
            let (outer, content) = DecodedLayer.hci(bytes)
            var packet = DecodedPacket(time: record.time, adapter: record.adapter, outer: outer)
            packet.direction = direction
            switch content {
            case .acl(let data):
                let link = Link(adapter: record.adapter, handle: data.handle)
                packet.connection = data.handle
                packet.peer = peers[link]
                reassemble(data, Flow(link: link, direction: direction), into: &packet)
            case .event(let event): follow(event, record.adapter)
            default: break
            }
            return packet
        }
    }

    private mutating func reassemble(_ data: ACLPacket, _ flow: Flow, into packet: inout DecodedPacket) {
        if flows.count >= Self.flowLimit, flows[flow] == nil { flows = [:] }
        do {
            try flows[flow, default: ACLReassembler()].receive(data.boundary, data.data.span) {
                channel, payload in
                packet.inner = DecodedLayer.frame(L2CAPFrame(channel, [UInt8](copying: payload)))
            }
        } catch {
            packet.outer.problem = error.description
        }
    }

    /// Remembers whose a connection is, and forgets it with its end.
    private mutating func follow(_ packet: HCIEventPacket, _ adapter: UInt16) {
        switch try? HCIEvent(packet) {
        case .leMeta(.connectionComplete(let event)) where event.status == .success:
            begin(Link(adapter: adapter, handle: event.connection), event.peer.deviceAddress)
        case .leMeta(.enhancedConnectionComplete(let event)) where event.status == .success:
            begin(Link(adapter: adapter, handle: event.connection), event.peer.deviceAddress)
        case .disconnectionComplete(let event) where event.status == .success:
            begin(Link(adapter: adapter, handle: event.connection), nil)
        default: break
        }
    }

    private mutating func begin(_ link: Link, _ peer: DeviceAddress?) {
        peers[link] = peer
        for direction in [Record.Direction.hostToController, .controllerToHost] {
            flows[Flow(link: link, direction: direction)] = nil
        }
    }
}
