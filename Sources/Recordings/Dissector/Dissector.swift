import ATT
import BLECore
import HCI

/// Decodes the records of a recording, one after another. It tracks connections, so that fragments are
/// reassembled into frames, data has a sender, responses are paired with their requests, and attributes have
/// the types that discovery reported.
package struct Dissector: Sendable {
    private struct Key: Hashable {
        let adapter: UInt16
        let handle: ConnectionHandle
    }

    /// The key of a pending command. It includes the adapter, because each adapter answers its own commands.
    private struct Command: Hashable {
        let adapter: UInt16
        let opcode: HCIOpcode
    }

    private var frame = 0
    private var links: [Key: DissectedLink] = [:]
    private var databases: [DissectedLink.Owner: AttributeNames] = [:]
    private var commands: [Command: DissectedLink.Request] = [:]

    /// The maximum number of tracked connections. It exceeds what any controller and host have, so only a
    /// damaged recording, or one of several weeks, reaches it; all connections are then discarded.
    private static let linkLimit = 256
    private static let databaseLimit = 256
    private static let commandLimit = 64
    /// The maximum number of attributes in all databases; only a recording crafted to exhaust memory has
    /// more.
    private static let attributeLimit = 200_000
    private var attributes = 0

    /// Creates a dissector at the start of a recording.
    /// The last extended advertising report of each adapter.
    private var lastReports: [UInt16: LEExtendedAdvertisingReports.Report] = [:]

    package init() {}

    /// Decodes the next record with the state that the earlier records established.
    package mutating func dissect(_ record: Record) -> DecodedPacket {
        frame += 1
        switch record.content {
        case .note(let opcode, let bytes):
            var packet = DecodedPacket(
                frame: frame, time: record.time, adapter: record.adapter, outer: .note(opcode, bytes))
            packet.missing = record.missing
            if record.missing > 0 { packet.outer.problem = nil }
            return packet
        case .packet(let direction, let bytes):
            if record.missing > 0 { return dissect(partOf: bytes, direction, record) }
            let (outer, content) = DecodedLayer.hci(bytes)
            var packet = DecodedPacket(
                frame: frame, time: record.time, adapter: record.adapter, direction: direction, outer: outer)
            switch content {
            case .acl(let data) where isLog(data, record.adapter):
                packet.outer = .vendor("Vendor Log", bytes, data.data)
            case .acl(let data):
                reassemble(data, direction, isGuess: record.isDirectionGuessed, into: &packet)
            case .event:
                if let event = outer.event { follow(event, &packet) }
                if case .leMeta(.extendedAdvertisingReports(let event))? = outer.event {
                    packet.outer.reportBefore = lastReports[record.adapter]
                    lastReports[record.adapter] = event.reports.last
                }
                if case .classic(let event) = outer.content { follow(event, &packet) }
            case .command(let command): remember(command, packet)
            default: break
            }
            return packet
        }
    }

    /// Returns the layers of a single HCI packet that begins with the octet of its type, outside of a
    /// recording.
    package static func layers(_ bytes: [UInt8]) -> [DecodedLayer] {
        let direction: Record.Direction = bytes.first == 1 ? .hostToController : .controllerToHost
        var dissector = Dissector()
        return dissector.dissect(
            Record(time: RecordingTime(microseconds: 0), content: .packet(direction, bytes))
        ).layers
    }

    /// Returns whether data are the log of a controller, which uses a handle that no connection has.
    private func isLog(_ data: ACLPacket, _ adapter: UInt16) -> Bool {
        data.handle == VendorPackets.log && links[Key(adapter: adapter, handle: data.handle)] == nil
    }

    /// Stores the peer of a connection of BR/EDR.
    private mutating func follow(_ event: ClassicEvent, _ packet: inout DecodedPacket) {
        guard let handle = event.connection, event.status == .success else { return }
        let key = Key(adapter: packet.adapter, handle: handle)
        begin(key, event.peer, isClassic: true)
        (packet.connection, packet.peer, packet.isClassic) = (handle, event.peer, true)
    }

    /// Decodes the first octets of a packet, of which the recorder has omitted the end.
    private mutating func dissect(
        partOf bytes: [UInt8], _ direction: HCIDirection, _ record: Record
    ) -> DecodedPacket {
        var packet = DecodedPacket(
            frame: frame, time: record.time, adapter: record.adapter, direction: direction,
            outer: DecodedLayer.part(of: bytes))
        packet.missing = record.missing
        guard case .packet(.acl(let data)) = packet.outer.content, !isLog(data, record.adapter) else {
            return packet
        }
        let (key, direction) = follow(data, direction, isGuess: record.isDirectionGuessed, &packet)
        let way: WritableKeyPath<DissectedLink, ACLReassembler> =
            direction == .hostToController ? \.sent : \.received
        // The rest of the frame would be taken for that of another one.
        links[key]?[keyPath: way].skip()
        guard data.boundary != .continuing else { return packet }
        packet.inner = DecodedLayer.part(ofFrame: data.data)
        if packet.top.layer == .att, let octet = packet.top.bytes.first {
            explain(partOf: ATTOpcode(octet), packet.top.att, direction, key, &packet)
        }
        return packet
    }

    /// Finds the link of a data packet, and the direction.
    private mutating func follow(
        _ data: ACLPacket, _ stated: HCIDirection, isGuess: Bool, _ packet: inout DecodedPacket
    ) -> (Key, HCIDirection) {
        let key = Key(adapter: packet.adapter, handle: data.handle)
        packet.connection = data.handle
        open(key)
        (packet.peer, packet.isClassic) = (links[key]?.peer, links[key]?.isClassic ?? false)
        let direction = links[key]?.direction(of: data, stated, isGuess: isGuess) ?? stated
        packet.direction = direction
        return (key, direction)
    }

    /// Finds the attribute of a PDU that was cut, and the request that it answers.
    private mutating func explain(
        partOf opcode: ATTOpcode, _ pdu: ATTPDU?, _ direction: HCIDirection, _ key: Key,
        _ packet: inout DecodedPacket
    ) {
        if let handle = pdu?.handle, let owner = links[key]?.owner(of: opcode.kind, direction) {
            packet.attribute = databases[owner]?.attribute(handle) ?? DecodedAttribute(handle: handle)
        }
        // What a cut request asks for is not known, so its answer reports no names.
        let asked = DissectedLink.Request(
            frame: frame, time: packet.time, request: nil, name: opcode.description,
            attribute: packet.attribute)
        guard let answered = links[key]?.pair(opcode, direction, asked) else { return }
        packet.request = AnsweredRequest(answered, at: packet.time)
        packet.attribute = packet.attribute ?? answered.attribute
    }

    private mutating func open(_ key: Key) {
        guard links[key] == nil else { return }
        if links.count >= Self.linkLimit { links = [:] }
        links[key] = DissectedLink(adapter: key.adapter, handle: key.handle, peer: nil)
    }

    private mutating func reassemble(
        _ data: ACLPacket, _ stated: HCIDirection, isGuess: Bool, into packet: inout DecodedPacket
    ) {
        let (key, direction) = follow(data, stated, isGuess: isGuess, &packet)
        let way: WritableKeyPath<DissectedLink, ACLReassembler> =
            direction == .hostToController ? \.sent : \.received
        do {
            try links[key]?[keyPath: way].receive(data.boundary, data.data.span) { channel, payload in
                let frame = L2CAPFrame(channel, [UInt8](copying: payload))
                packet.inner = DecodedLayer.frame(frame, frame.encoded)
            }
        } catch {
            packet.outer.problem = error.description
        }
        if let pdu = packet.inner.last?.att { explain(pdu, direction, key, &packet) }
    }

    /// Finds the request that a PDU answers and the attribute that it refers to, and adds the attributes that
    /// it reports.
    private mutating func explain(
        _ pdu: ATTPDU, _ direction: HCIDirection, _ key: Key, _ packet: inout DecodedPacket
    ) {
        guard let owner = links[key]?.owner(of: pdu.opcode.kind, direction) else { return }
        if let handle = pdu.handle {
            packet.attribute = databases[owner]?.attribute(handle) ?? DecodedAttribute(handle: handle)
        }
        let request: ATTRequest? = if case .request(let request) = pdu { request } else { nil }
        let asked = DissectedLink.Request(
            frame: frame, time: packet.time, request: request, name: pdu.opcode.description,
            attribute: packet.attribute)
        guard let answered = links[key]?.pair(pdu.opcode, direction, asked) else { return }
        packet.request = AnsweredRequest(answered, at: packet.time)
        packet.attribute = packet.attribute ?? answered.attribute
        if case .response(let response) = pdu, let request = answered.request {
            if case .readByType(_, let type) = request {
                packet.inner[packet.inner.count - 1].content = .att(pdu, of: type.uuid)
            }
            takeNames(response, to: request, of: owner)
        }
    }

    private mutating func takeNames(
        _ response: ATTResponse, to request: ATTRequest, of owner: DissectedLink.Owner
    ) {
        let isFull = databases.count >= Self.databaseLimit && databases[owner] == nil
        if isFull || attributes >= Self.attributeLimit { (databases, attributes) = ([:], 0) }
        attributes -= databases[owner]?.count ?? 0
        databases[owner, default: AttributeNames()].take(response, to: request)
        attributes += databases[owner]?.count ?? 0
    }

    /// Stores when a command was sent, to match its answer.
    private mutating func remember(_ command: HCICommandPacket, _ packet: DecodedPacket) {
        if commands.count >= Self.commandLimit { commands = [:] }
        commands[Command(adapter: packet.adapter, opcode: command.opcode)] = DissectedLink.Request(
            frame: frame, time: packet.time, request: nil, name: packet.outer.name, attribute: nil)
    }

    /// Stores the peer of a connection when it begins and discards it when the connection ends. Finds the
    /// command that an event answers.
    private mutating func follow(_ event: HCIEvent, _ packet: inout DecodedPacket) {
        let adapter = packet.adapter
        switch event {
        case .leMeta(.connectionComplete(let event)) where event.status == .success:
            begin(Key(adapter: adapter, handle: event.connection), event.peer.deviceAddress)
        case .leMeta(.enhancedConnectionComplete(let event)) where event.status == .success:
            begin(Key(adapter: adapter, handle: event.connection), event.peer.deviceAddress)
        case .commandComplete(let event): answer(event.opcode, &packet)
        case .commandStatus(let event): answer(event.opcode, &packet)
        default: break
        }
        guard let handle = event.connection else { return }
        let key = Key(adapter: adapter, handle: handle)
        packet.connection = handle
        (packet.peer, packet.isClassic) = (links[key]?.peer, links[key]?.isClassic ?? false)
        if case .disconnectionComplete(let event) = event, event.status == .success { links[key] = nil }
    }

    private mutating func answer(_ opcode: HCIOpcode, _ packet: inout DecodedPacket) {
        let command = Command(adapter: packet.adapter, opcode: opcode)
        packet.request = commands.removeValue(forKey: command).map { AnsweredRequest($0, at: packet.time) }
    }

    private mutating func begin(_ key: Key, _ peer: DeviceAddress?, isClassic: Bool = false) {
        if links.count >= Self.linkLimit, links[key] == nil { links = [:] }
        links[key] = DissectedLink(adapter: key.adapter, handle: key.handle, peer: peer)
        links[key]?.isClassic = isClassic
        attributes -= databases.removeValue(forKey: .unknownPeer(key.adapter, key.handle))?.count ?? 0
    }
}

extension AnsweredRequest {
    init(_ request: DissectedLink.Request, at time: RecordingTime) {
        let latency = time.microseconds.subtractingReportingOverflow(request.time.microseconds)
        self.init(
            frame: request.frame, latency: latency.overflow ? 0 : latency.partialValue, name: request.name)
    }
}

extension HCIEvent {
    /// The connection to which the event refers.
    fileprivate var connection: ConnectionHandle? {
        switch self {
        case .disconnectionComplete(let event): event.connection
        case .encryptionChange(let event): event.connection
        case .encryptionChangeV2(let event): event.connection
        case .encryptionKeyRefreshComplete(let event): event.connection
        case .readRemoteVersionInformationComplete(let event): event.connection
        case .leMeta(.connectionComplete(let event)) where event.status == .success: event.connection
        case .leMeta(.enhancedConnectionComplete(let event)) where event.status == .success: event.connection
        case .leMeta(.connectionUpdateComplete(let event)): event.connection
        case .leMeta(.readRemoteFeaturesComplete(let event)): event.connection
        case .leMeta(.longTermKeyRequest(let event)): event.connection
        case .leMeta(.remoteConnectionParameterRequest(let event)): event.connection
        case .leMeta(.dataLengthChange(let event)): event.connection
        case .leMeta(.phyUpdateComplete(let event)): event.connection
        case .leMeta(.channelSelectionAlgorithm(let event)): event.connection
        default: nil
        }
    }
}
