import ATT
import BLECore
import GATTServer

/// Our server, and a bearer to each of its peers.
struct ServerTester: Tester {
    private struct Link {
        var bearer = ATTBearer()
        var security = LinkSecurity.none
        var waiting: [[UInt8]] = []
    }

    private var server = GATTServer(.empty)
    private var configuration = ATTBearer.Configuration()
    private var links = [1: Link()]
    private var peer = 1
    private var now = Instant.zero

    init() {}

    mutating func perform(_ command: String, _ arguments: [String]) throws {
        switch (command, arguments.first) {
        case ("database", let name?): try use(name)
        case ("receive", let octets?): try receive(upTo: octets)
        case ("peer", let number?): try meet(number)
        case ("security", let level?): try secure(level, arguments.dropFirst())
        case ("reconnect", _): reconnect()
        case ("update", let handle?): try update(handle, arguments.dropFirst().joined())
        case ("wait", let seconds?): try wait(seconds)
        default: throw CommandError(command, arguments)
        }
    }

    mutating func receive(_ pdu: [UInt8]) { links[peer]?.bearer.receive(pdu.span, at: now) }

    mutating func turn() -> (sent: [[UInt8]], told: [String]) {
        var told: [String] = []
        for number in links.keys.sorted() {
            guard var link = links.removeValue(forKey: number) else { continue }
            while let event = link.bearer.nextEvent(serving: central(number), from: &server) {
                told.append(describe(event))
            }
            while let frame = link.bearer.frame() { link.waiting.append(frame) }
            links[number] = link
        }
        while let event = server.nextEvent() {
            if let text = describe(event) { told.append(text) }
        }
        let sent = links[peer]?.waiting ?? []
        links[peer]?.waiting = []
        return (sent, told)
    }

    /// `database NAME`: the server has the reference database of that name.
    private mutating func use(_ name: String) throws {
        let reference = try ReferenceDatabase.named(name)
        server = GATTServer(
            try AttributeDatabase(reference.services, generic: nil), reference.configuration)
        server.connect(central(peer))
    }

    /// `receive OCTETS`: bearers from now on receive so much.
    private mutating func receive(upTo octets: String) throws {
        guard let number = UInt16(octets) else { throw CommandError("receive", [octets]) }
        configuration.receiveMTU = ATTMTU(number)
        links[peer]?.bearer = ATTBearer(configuration)
    }

    /// `peer NUMBER`: what follows is said to and by that peer, which connects if it is new.
    private mutating func meet(_ number: String) throws {
        guard let number = Int(number) else { throw CommandError("peer", [number]) }
        peer = number
        guard links[number] == nil else { return }
        links[number] = Link(bearer: ATTBearer(configuration))
        server.connect(central(number))
    }

    /// `security LEVEL [key OCTETS] [bonded]`: the link is that safe from now on.
    private mutating func secure(_ level: String, _ more: ArraySlice<String>) throws {
        let levels: [String: LinkSecurity.Level] = [
            "none": .none, "encrypted": .encrypted, "authenticated": .authenticated,
            "secure": .secureConnections,
        ]
        guard let level = levels[level] else { throw CommandError("security", [level]) }
        let key = more.firstIndex(of: "key").flatMap { Int(more[$0 + 1]) } ?? 16
        let security = LinkSecurity(level: level, keySize: key, isBonded: more.contains("bonded"))
        links[peer]?.security = security
        server.setSecurity(security, of: central(peer))
    }

    /// `reconnect`: the link goes, and comes again. A bonded peer is known, though the link is not encrypted
    /// yet.
    private mutating func reconnect() {
        let bonded = links[peer]?.security.isBonded == true
        let kept = server.disconnect(central(peer))
        let security = LinkSecurity(level: .none, isBonded: bonded)
        links[peer] = Link(bearer: ATTBearer(configuration), security: security)
        server.connect(central(peer), security: security, configurations: bonded ? kept : [:])
    }

    /// `update HANDLE OCTETS`: the application has a new value for those who want it.
    private mutating func update(_ handle: String, _ octets: String) throws {
        guard let handle = AttributeHandle(hex: handle), let value = Dialogue.octets(octets) else {
            throw CommandError("update", [handle, octets])
        }
        try server.setValue(value, of: handle)
        for subscriber in server.subscribers(of: handle) {
            let number = Int(subscriber.central.rawValue)
            try links[number]?.bearer.push(value, of: handle, to: subscriber, truncating: true, at: now)
        }
    }

    /// `wait SECONDS`: so much time goes by.
    private mutating func wait(_ seconds: String) throws {
        guard let number = Int(seconds) else { throw CommandError("wait", [seconds]) }
        now = now + .seconds(number)
        for key in links.keys { links[key]?.bearer.expire(at: now) }
    }

    private func central(_ number: Int) -> CentralID { CentralID(rawValue: UInt64(number)) }
}
