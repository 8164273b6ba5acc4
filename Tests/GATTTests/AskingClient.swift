import ATT
import BLECore
import GATT
import GATTClient
import GATTServer
import TestSupport

/// The client's role of a connection: the PDUs of its server are written in hex. What a discovery asks of the owner is done at
/// once, with a cache that lasts.
struct AskingClient {
    static let peer = DeviceAddress(0xc0de_0000_0001, type: .random)

    var connection: GATTConnection
    var cache: DatabaseCache
    var now = Instant.zero
    /// Whether a discovery waits for what is remembered.
    var recallsAtOnce = true
    private var nothing = GATTServer(.empty)
    private var pending: [ClientSession.Event] = []

    init(unsolicitedLimit: Int = 64, knowing cache: DatabaseCache = DatabaseCache()) {
        var configuration = ATTBearer.Configuration()
        configuration.unsolicitedLimit = unsolicitedLimit
        let client = ClientID(rawValue: 1)
        connection = GATTConnection(client, configuration)
        nothing.connect(client)
        self.cache = cache
    }

    /// A PDU comes.
    mutating func receive(_ hex: String) {
        connection.receive(octets(hex).span, at: now)
        work()
    }

    /// A PDU comes; what is sent then.
    mutating func ask(_ hex: String) -> [String] {
        receive(hex)
        return sent()
    }

    /// The PDUs that go out when the channel takes `limit` at most.
    mutating func sent(atMost limit: Int = .max) -> [String] {
        var frames: [String] = []
        while frames.count < limit {
            work()
            guard let frame = written(by: { connection.nextFrame(into: &$0, at: now) }) else { break }
            frames.append(frame.hex)
        }
        work()
        return frames
    }

    /// The events since the last call.
    mutating func events() -> [ClientSession.Event] {
        work()
        defer { pending = [] }
        return pending
    }

    /// The ends of operations among the events since the last call.
    mutating func ends() -> [TicketID] {
        events().compactMap { if case .finished(let id, _) = $0 { id } else { nil } }
    }

    /// How an operation ended; nil when it has not. All other events are lost.
    mutating func end<Value>(of ticket: Ticket<Value>) -> Result<Value, GATTFailure>? {
        let outcomes = events().compactMap { event in
            if case .finished(ticket.id, let outcome) = event { outcome } else { nil }
        }
        precondition(outcomes.count < 2, "an operation ends once")
        return outcomes.first?.result(of: ticket)
    }

    private mutating func work() {
        var isDone = false
        while !isDone {
            while connection.nextEvent(serving: &nothing) != nil {}
            isDone = true
            while let event = connection.session.nextEvent() {
                isDone = false
                switch event {
                case .databaseWanted(let hash) where recallsAtOnce:
                    connection.session.remember(cache.current(of: Self.peer, hash: hash), for: hash)
                case .databaseFound(let found):
                    connection.session.adopt(CachedDatabase(found), of: Self.peer, in: &cache)
                case .databaseChanged: cache.invalidate(Self.peer)
                default: break
                }
                pending.append(event)
            }
        }
    }
}

extension Result where Failure == GATTFailure {
    /// Why there is no result, as text; nil when there is one.
    var failure: String? {
        if case .failure(let failure) = self { "\(failure)" } else { nil }
    }
}
