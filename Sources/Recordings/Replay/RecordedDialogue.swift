import ATT
import BLECore
import HCI

/// The ATT traffic between a server and its clients, in the order of the recording.
package struct RecordedDialogue: Sendable {
    /// The device whose database was used.
    package enum Server: Hashable, Sendable {
        /// The host whose traffic was recorded.
        case host
        /// A peer of that host; nil if the recording lacks the connection's beginning.
        case peer(DeviceAddress?)
    }

    /// A PDU or other event on a link. Links are numbered consecutively within the recording.
    package enum Turn: Sendable {
        /// A PDU of the client.
        case client(ATTPDU, link: Int)
        /// A PDU of the server.
        case server(ATTPDU, link: Int)
        /// A request or response of which the recorder has omitted the end.
        case cut(isRequest: Bool, link: Int)
        /// The link was encrypted, or no longer is.
        case encryption(Bool, link: Int)
        /// The link has ended.
        case end(link: Int)
    }

    /// The device whose database was used.
    package let server: Server
    /// The turns on all links, in the order of the recording.
    package fileprivate(set) var turns: [Turn] = []
    /// The packet number in the recording of each turn.
    package fileprivate(set) var frames: [Int] = []

    /// The number of requests from the clients.
    package var requests: Int {
        turns.reduce(0) { if case .client(.request, _) = $1 { $0 + 1 } else { $0 } }
    }

    /// Returns the dialogue of each server in a recording that received a request.
    package static func all(in packets: [DecodedPacket]) -> [RecordedDialogue] {
        var splitter = Splitter()
        for packet in packets { splitter.take(packet) }
        return splitter.dialogues.filter { $0.requests > 0 }
    }
}

extension RecordedDialogue.Server: CustomStringConvertible {
    /// "host", or the address of the peer.
    package var description: String {
        switch self {
        case .host: "host"
        case .peer(let address): address?.description ?? "unknown peer"
        }
    }
}

/// Assigns each PDU to its dialogue; both devices of a link can be servers.
private struct Splitter {
    private struct Channel: Hashable {
        let adapter: UInt16
        let connection: ConnectionHandle
    }

    private(set) var dialogues: [RecordedDialogue] = []
    private var links: [Channel: Int] = [:]
    private var lastLink = 0

    mutating func take(_ packet: DecodedPacket) {
        if let event = packet.outer.event { follow(event, packet) }
        guard packet.top.layer == .att, let connection = packet.connection else { return }
        let channel = Channel(adapter: packet.adapter, connection: connection)
        if links[channel] == nil {
            lastLink += 1
            links[channel] = lastLink
        }
        let link = links[channel, default: lastLink]
        let peer = RecordedDialogue.Server.peer(packet.peer)
        let (sender, receiver): (RecordedDialogue.Server, RecordedDialogue.Server) =
            packet.direction == .hostToController ? (.host, peer) : (peer, .host)
        if packet.missing > 0 {
            guard let octet = packet.top.bytes.first else { return }
            // Which of the two is the server follows from the kind of the PDU.
            switch ATTOpcode(octet).kind {
            case .request: add(.cut(isRequest: true, link: link), packet.frame, receiver)
            case .response: add(.cut(isRequest: false, link: link), packet.frame, sender)
            default: break
            }
            return
        }
        guard let pdu = packet.top.att else { return }
        let isOfClient = pdu.opcode.kind != .response && pdu.opcode.kind != .unsolicited
        let frame = packet.frame
        add(
            isOfClient ? .client(pdu, link: link) : .server(pdu, link: link), frame,
            isOfClient ? receiver : sender)
        // An MTU applies to both directions, whichever device requested it. Until its exchange has ended, in
        // success or error, only responses are sent.
        switch pdu {
        case .request(.exchangeMTU): add(.server(pdu, link: link), frame, sender)
        case .response(.exchangeMTU): add(.client(pdu, link: link), frame, receiver)
        case .response(.error(let error)) where error.requestOpcode == .exchangeMTURequest:
            add(.client(pdu, link: link), frame, receiver)
        default: break
        }
    }

    private mutating func follow(_ event: HCIEvent, _ packet: DecodedPacket) {
        guard let connection = packet.connection else { return }
        let channel = Channel(adapter: packet.adapter, connection: connection)
        switch event {
        case .disconnectionComplete(let end) where end.status == .success:
            if let link = links.removeValue(forKey: channel) { emit(.end(link: link), packet.frame) }
        case .encryptionChange(let change) where change.status == .success:
            encrypt(channel, change.mode != .off, packet.frame)
        case .encryptionChangeV2(let change) where change.status == .success:
            encrypt(channel, change.mode != .off, packet.frame)
        default: break
        }
    }

    private mutating func encrypt(_ channel: Channel, _ isOn: Bool, _ frame: Int) {
        if let link = links[channel] { emit(.encryption(isOn, link: link), frame) }
    }

    /// Adds a turn that concerns both devices of a link to all dialogues.
    private mutating func emit(_ turn: RecordedDialogue.Turn, _ frame: Int) {
        for index in dialogues.indices {
            dialogues[index].turns.append(turn)
            dialogues[index].frames.append(frame)
        }
    }

    private mutating func add(_ turn: RecordedDialogue.Turn, _ frame: Int, _ server: RecordedDialogue.Server)
    {
        let index = dialogues.firstIndex { $0.server == server } ?? dialogues.count
        if index == dialogues.count { dialogues.append(RecordedDialogue(server: server)) }
        dialogues[index].turns.append(turn)
        dialogues[index].frames.append(frame)
    }
}
