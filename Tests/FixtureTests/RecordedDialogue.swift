import ATT
import BLECore
import HCI
import Recordings

/// What a server and its clients said over ATT, in the order of the recording.
struct RecordedDialogue: Sendable {
    /// Whose database was used.
    enum Server: Hashable, Sendable {
        /// The side that was recorded.
        case host
        /// Its peer; nil where the recording lacks the connection's beginning.
        case peer(DeviceAddress?)
    }

    /// What happened on a link. Links are numbered through the recording.
    enum Turn: Sendable {
        case client(ATTPDU, link: Int)
        case server(ATTPDU, link: Int)
        case end(link: Int)
    }

    let server: Server
    fileprivate(set) var turns: [Turn] = []

    /// The MTU that the server first told its client, by link.
    var receiveMTUs: [Int: ATTMTU] {
        turns.reduce(into: [:]) { mtus, turn in
            switch turn {
            case .server(.response(.exchangeMTU(let mtu)), let link),
                .server(.request(.exchangeMTU(let mtu)), let link):
                mtus[link] = mtus[link] ?? ATTMTU(mtu)
            default: break
            }
        }
    }

    /// Each server of a recording that a client asked for anything.
    static func all(in packets: [DecodedPacket]) -> [RecordedDialogue] {
        var splitter = Splitter()
        for packet in packets { splitter.take(packet) }
        return splitter.dialogues.filter { dialogue in
            dialogue.turns.contains { if case .client(.request, _) = $0 { true } else { false } }
        }
    }
}

/// Gives each PDU to the dialogue it belongs to: both sides of a link can be servers.
private struct Splitter {
    private struct Channel: Hashable {
        let adapter: UInt16
        let connection: ConnectionHandle
    }

    private(set) var dialogues: [RecordedDialogue] = []
    private var links: [Channel: Int] = [:]
    private var lastLink = 0

    mutating func take(_ packet: DecodedPacket) {
        if case .event(let event)? = packet.outer.message as? HCIPacket,
            case .disconnectionComplete(let end)? = try? HCIEvent(event), end.status == .success,
            let link = links.removeValue(forKey: Channel(adapter: packet.adapter, connection: end.connection))
        {
            for index in dialogues.indices { dialogues[index].turns.append(.end(link: link)) }
        }
        guard let pdu = packet.top.message as? ATTPDU, let connection = packet.connection else { return }
        let channel = Channel(adapter: packet.adapter, connection: connection)
        if links[channel] == nil {
            lastLink += 1
            links[channel] = lastLink
        }
        let link = links[channel, default: lastLink]
        let peer = RecordedDialogue.Server.peer(packet.peer)
        let (sender, receiver): (RecordedDialogue.Server, RecordedDialogue.Server) =
            packet.direction == .hostToController ? (.host, peer) : (peer, .host)
        let isOfClient = pdu.opcode.kind != .response && pdu.opcode.kind != .push
        add(isOfClient ? .client(pdu, link: link) : .server(pdu, link: link), isOfClient ? receiver : sender)
        // An MTU holds for both directions, whoever asked for it, and until its exchange is over, refused or
        // not, nothing is sent unasked.
        switch pdu {
        case .request(.exchangeMTU): add(.server(pdu, link: link), sender)
        case .response(.exchangeMTU): add(.client(pdu, link: link), receiver)
        case .response(.error(let error)) where error.requestOpcode == .exchangeMTURequest:
            add(.client(pdu, link: link), receiver)
        default: break
        }
    }

    private mutating func add(_ turn: RecordedDialogue.Turn, _ server: RecordedDialogue.Server) {
        if let index = dialogues.firstIndex(where: { $0.server == server }) {
            dialogues[index].turns.append(turn)
        } else {
            dialogues.append(RecordedDialogue(server: server, turns: [turn]))
        }
    }
}
