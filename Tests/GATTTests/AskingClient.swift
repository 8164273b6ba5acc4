import ATT
import BLECore
import GATT
import GATTClient
import GATTServer
import TestSupport

/// The client role of a connection, with the PDUs of its server in hex. The requests of a discovery to its
/// owner are answered at once, from a cache that is kept.
struct AskingClient {
    static let peer = DeviceAddress(0xc0de_0000_0001, type: .random)

    var connection: GATTConnection
    var cache: DatabaseCache
    var now = Instant.zero
    /// Whether a discovery receives the cached database at once. If not, the test passes a database to it.
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

    mutating func receive(_ hex: String) {
        connection.receive(octets(hex).span, at: now)
        work()
    }

    /// Receives a PDU, and returns the PDUs that are sent then.
    mutating func ask(_ hex: String) -> [String] {
        receive(hex)
        return sent()
    }

    /// Returns the PDUs that are sent when the channel accepts at most `limit`.
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

    /// Returns the events since the last call.
    mutating func events() -> [ClientSession.Event] {
        work()
        defer { pending = [] }
        return pending
    }

    /// Returns the operations that have ended since the last call. All other events are dropped.
    mutating func ends() -> [TicketID] {
        events().compactMap { if case .finished(let id, _) = $0 { id } else { nil } }
    }

    /// Returns the result of an operation; nil when it has not ended. All other events are dropped.
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
    /// The failure as text; nil on success.
    var failure: String? {
        if case .failure(let failure) = self { "\(failure)" } else { nil }
    }
}
