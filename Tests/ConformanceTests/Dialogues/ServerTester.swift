import ATT
import BLECore
import GATT
import GATTServer

/// Our server, and a connection to each of its peers.
struct ServerTester: Tester {
    private struct Link {
        var connection: GATTConnection
        var security = LinkSecurity.none
        var waiting: [[UInt8]] = []
    }

    private var server = GATTServer(.empty)
    private var configuration = ATTBearer.Configuration()
    private var links = [1: Link(connection: GATTConnection(central(1)))]
    /// The records of bonded peers that are disconnected.
    private var bonds: [Int: GATTClientRecord] = [:]
    private var peer = 1
    private var now = Instant.zero

    init() {}

    mutating func perform(_ command: String, _ arguments: [String]) throws {
        switch (command, arguments.first) {
        case ("database", let name?): try use(name)
        case ("receive", let octets?): try receive(upTo: octets)
        case ("peer", let number?): try meet(number)
        case ("security", let level?): try secure(level, arguments.dropFirst())
        case ("disconnect", let number?): try disconnect(number)
        case ("reconnect", _):
            try disconnect(String(peer))
            connect()
        case ("update", let handle?): try update(handle, arguments.dropFirst().joined())
        case ("update-together", _?): try updateTogether(arguments)
        case ("key", let csrk?): try useKey(csrk)
        case ("add", let name?): try add(name)
        case ("remove", let handle?): try remove(handle)
        case ("wait", let seconds?): try wait(seconds)
        default: throw CommandError(command, arguments)
        }
    }

    mutating func receive(_ pdu: [UInt8]) { links[peer]?.connection.receive(pdu.span, at: now) }

    mutating func turn() -> (sent: [[UInt8]], reported: [String]) {
        var reported: [String] = []
        for number in links.keys.sorted() {
            guard var link = links.removeValue(forKey: number) else { continue }
            while let event = link.connection.nextEvent(serving: &server) {
                if let text = describe(event) { reported.append(text) }
            }
            while let event = link.connection.session.nextEvent() { reported += describe(event) ?? [] }
            while let frame = link.connection.frame(at: now) { link.waiting.append(frame) }
            links[number] = link
        }
        while let event = server.nextEvent() {
            if let text = describe(event) { reported.append(text) }
        }
        let sent = links[peer]?.waiting ?? []
        links[peer]?.waiting = []
        return (sent, reported)
    }

    /// `database NAME`: replaces the server by one with the reference database of that name.
    private mutating func use(_ name: String) throws {
        let reference = try ReferenceDatabase.named(name)
        server = GATTServer(
            try AttributeDatabase(reference.services, generic: reference.generic), reference.configuration)
        server.connect(Self.central(peer))
    }

    /// `receive OCTETS`: sets the receive MTU of the peer's bearer and of later bearers.
    private mutating func receive(upTo octets: String) throws {
        guard let number = UInt16(octets) else { throw CommandError("receive", [octets]) }
        configuration.receiveMTU = ATTMTU(number)
        links[peer]?.connection = GATTConnection(Self.central(peer), configuration)
    }

    /// `peer NUMBER`: the lines after it belong to that peer, which connects if it is not connected.
    private mutating func meet(_ number: String) throws {
        guard let number = Int(number) else { throw CommandError("peer", [number]) }
        peer = number
        if links[number] == nil { connect() }
    }

    /// `security LEVEL [key OCTETS] [bonded]`: sets the security of the link.
    private mutating func secure(_ level: String, _ more: ArraySlice<String>) throws {
        let levels: [String: SecurityLevel] = [
            "none": .open, "encrypted": .encrypted, "authenticated": .authenticated,
            "secure": .secureConnections,
        ]
        guard let level = levels[level] else { throw CommandError("security", [level]) }
        let key = more.firstIndex(of: "key").flatMap { Int(more[$0 + 1]) } ?? 16
        let security = LinkSecurity(level: level, keySize: key, isBonded: more.contains("bonded"))
        links[peer]?.security = security
        server.setSecurity(security, of: Self.central(peer))
    }

    /// `disconnect NUMBER`: disconnects that peer.
    private mutating func disconnect(_ number: String) throws {
        guard let number = Int(number), let link = links.removeValue(forKey: number) else {
            throw CommandError("disconnect", [number])
        }
        let record = server.disconnect(Self.central(number))
        bonds[number] = link.security.isBonded ? record : nil
    }

    /// Connects the peer. A bonded peer has its record, although the link is not encrypted yet.
    private mutating func connect() {
        let record = bonds.removeValue(forKey: peer)
        let security = LinkSecurity(level: .open, isBonded: record != nil)
        let central = Self.central(peer)
        links[peer] = Link(connection: GATTConnection(central, configuration), security: security)
        server.connect(central, security: security, record: record)
        links[peer]?.connection.servicesChanged()
    }

    /// `update HANDLE OCTETS`: sets a value and sends it to the subscribed clients.
    private mutating func update(_ handle: String, _ octets: String) throws {
        guard let handle = AttributeHandle(hex: handle), let value = Dialogue.octets(octets) else {
            throw CommandError("update", [handle, octets])
        }
        deliver(try server.setValues([(handle, value)]))
    }

    /// `update-together HANDLE OCTETS …`: sets the values of several attributes and sends them, in one PDU to
    /// clients that support it (Part G, 4.10.2), else in one PDU for each value.
    private mutating func updateTogether(_ words: [String]) throws {
        var values: [(handle: AttributeHandle, value: [UInt8])] = []
        for index in stride(from: 0, to: words.count - 1, by: 2) {
            guard let handle = AttributeHandle(hex: words[index]),
                let value = Dialogue.octets(words[index + 1])
            else { throw CommandError("update-together", words) }
            values.append((handle, value))
        }
        deliver(try server.setValues(values))
    }

    private mutating func deliver(_ updates: [ValueUpdate]) {
        for client in server.centrals {
            let delivery = server.delivery(of: updates, to: client, truncating: true)
            _ = links[Int(client.rawValue)]?.connection.deliver(delivery)
        }
    }

    /// `key CSRK`: sets the signing key of the peer, a hexadecimal number.
    private mutating func useKey(_ csrk: String) throws {
        guard let number = UInt128(csrk, radix: 16) else { throw CommandError("key", [csrk]) }
        server.setSigningKey(ATTSigningKey(csrk: number), of: Self.central(peer))
    }

    /// `add NAME`: adds the services of the database of that name.
    private mutating func add(_ name: String) throws {
        try server.add(ReferenceDatabase.named(name).services)
        for number in links.keys { links[number]?.connection.servicesChanged() }
    }

    /// `remove HANDLE`: removes the service at the handle.
    private mutating func remove(_ handle: String) throws {
        guard let handle = AttributeHandle(hex: handle) else { throw CommandError("remove", [handle]) }
        try server.remove(handle)
        for number in links.keys { links[number]?.connection.servicesChanged() }
    }

    /// `wait SECONDS`: advances the time.
    private mutating func wait(_ seconds: String) throws {
        guard let number = Int(seconds) else { throw CommandError("wait", [seconds]) }
        now = now + .seconds(number)
        for key in links.keys { links[key]?.connection.expire(at: now) }
    }

    private static func central(_ number: Int) -> ClientID { ClientID(rawValue: UInt64(number)) }
}
