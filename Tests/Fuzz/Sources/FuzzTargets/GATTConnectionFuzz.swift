import ATT
import BLECore
import GATT
import GATTClient
import GATTServer

/// A connection between a peer that sends any octets and an application with both roles that performs any
/// operation. Each delivery and each operation ends once. No frame is larger than the largest MTU so far. At
/// most one indication and one request wait for the peer. After the end, no frame is sent, and the only
/// events are the ends of deliveries.
///
/// The input is operations of one octet, some with arguments. A PDU follows an octet that has its length.
public func fuzzGATTConnection(_ bytes: Span<UInt8>) {
    var input = ByteReader(bytes, of: "fuzz input")
    var played = PlayedConnection()
    while let operation = try? input.u8("operation") { played.perform(operation, &input) }
    played.end()
}

/// The connection, and the state for the checks.
private struct PlayedConnection {
    private static let client = ClientID(rawValue: 1)

    private var server = GATTServer(database)
    private var connection: GATTConnection
    private var now = Instant.zero
    private var open: Set<DeliveryID> = []
    private var held: [HeldResponse] = []
    private var added: [AttributeHandle] = []
    private var isIndicating = false
    private var isAsking = false
    /// The request that waits for its response.
    private var asked: [[UInt8]] = []
    private var isClosed = false
    private var cache = DatabaseCache()
    private var operations: Set<TicketID> = []
    private var subscribers: [SubscriptionID] = []
    private var securing: TicketID?
    /// Whether a remembered database is returned late. `recalling` is the hash for which it is requested.
    private var wantsRecall = false
    private var recalling: [UInt8]??
    /// The largest MTU so far. Pending PDUs are sent even if the MTU becomes smaller.
    private var room = 0

    init() {
        var configuration = ATTBearer.Configuration()
        (configuration.unsolicitedLimit, configuration.indicationLimit) = (3, 3)
        connection = GATTConnection(Self.client, configuration)
        server.connect(Self.client)
    }

    mutating func perform(_ operation: UInt8, _ input: inout ByteReader) {
        switch operation & 0x0f {
        case 0: deliver(operation >> 4)
        case 1:
            if let some = open.min(by: { $0.rawValue < $1.rawValue }), open.remove(some) != nil {
                connection.cancel(some)
            }
        case 2:
            if let response = held.popLast() { connection.release(response, isKept: operation & 0x10 == 0) }
        case 3: changeServices()
        case 4: later.takeAll().forEach { connection.complete($0, with: .success([1, 2]), serving: &server) }
        case 5: connection.holdsChanges.toggle()
        case 6:
            now = now + .seconds(Int(operation >> 4) * 4)
            connection.expire(at: now)
        case 7: send(atMost: Int(operation >> 4))
        case 8: if operation == 0xf8 { connection.close(.disconnected) } else { ask(operation >> 4) }
        default:
            let length = min(Int(operation >> 2), input.remaining)
            let frame = (try? input.bytes(length, "PDU")) ?? []
            if frame == [0x1e] { isIndicating = false }
            if let opcode = frame.first.map({ ATTOpcode($0) }), opcode.kind == .response { isAsking = false }
            room = max(room, connection.mtu.octets)
            connection.receive(frame.span, at: now)
        }
        takeEvents()
    }

    /// Settles and ends the connection. Checks that everything that was open has ended.
    mutating func end() {
        settle()
        connection.close(.disconnected)
        takeEvents()
        precondition(open.isEmpty && operations.isEmpty && isClosed)
        send(atMost: .max)
        later.removeAll()
    }

    private mutating func deliver(_ kind: UInt8) {
        let value = [UInt8](repeating: kind, count: kind == 15 ? 30 : Int(kind))
        let values =
            (kind & 3 == 0 ? [notified] : kind & 3 == 1 ? [indicated] : [notified, indicated, notified])
            .map { (handle: $0, value: value) }
        guard let updates = try? server.setValues(values) else { return }
        let delivery =
            kind & 4 == 0
            ? server.delivery(of: updates, to: Self.client, truncating: kind & 8 == 0)
            : Delivery(
                notifications: updates, indications: updates, packs: kind & 8 != 0, truncates: kind & 1 == 0)
        let isNew = open.insert(connection.deliver(delivery)).inserted
        precondition(isNew)
    }

    private mutating func changeServices() {
        if let handle = added.popLast(), added.count > 1 {
            precondition((try? server.remove(handle)) != nil)
        } else if let range = try? server.add([
            GATTService(0xff20, characteristics: [GATTCharacteristic(0xff21, properties: .read)])
        ]) {
            added.append(range.start)
        }
        connection.servicesChanged()
    }

    /// Performs an operation of the application as a client.
    private mutating func ask(_ kind: UInt8) {
        let known = connection.session.currentDatabase?.services.first?.characteristics.first
        let handles = known.map { [CheckedHandle($0)] } ?? [CheckedHandle(0x0003, DatabaseGeneration(77))]
        switch kind {
        case 0: begin(connection.session.run(ReadLongValue(0x0003)))
        case 1:
            begin(connection.session.run(WriteCharacteristicValue(0x0003, [UInt8](repeating: 1, count: 40))))
        case 2: begin(connection.session.run(ReadSeveralValues([3, 5, 7]), about: handles))
        case 3: begin(connection.session.discover())
        case 4: begin(connection.session.discover(refreshing: true))
        case 5: if let some = oldest { connection.cancel(some) }
        case 6: if let sent = try? connection.send(.write(0x0003, value: [1, 2])) { begin(sent) }
        case 7: if let sent = try? connection.send(.write(0x0003, value: [3]), about: handles) { begin(sent) }
        case 8: begin(connection.waitUntilReady())
        case 9: begin(connection.waitUntilReady(forIndication: operations.count & 1 == 0))
        case 10:
            if let securing { connection.session.securityEnded(.raised, for: securing) }
        case 11:
            if let securing { connection.session.securityEnded(.unavailable, for: securing) }
        case 12:
            begin(connection.offerMTU())
        case 13:
            guard let known else { break }
            subscribers.append(
                connection.session.subscribe(to: known, .indicate, holdingConfirmation: true).id)
            begin(connection.session.configure(known))
        case 14:
            wantsRecall.toggle()
            if let hash = recalling.take() { recall(hash) }
            if let last = operations.max(by: { $0.number < $1.number }) { connection.cancel(last) }
        default:
            guard let subscriber = subscribers.popLast() else { break }
            if let ticket = connection.session.unsubscribe(subscriber) { begin(ticket) }
        }
    }

    private mutating func recall(_ hash: [UInt8]?) {
        connection.session.remember(cache.current(of: peer, hash: hash), for: hash)
    }

    /// The peer answers all requests with errors, and the channel accepts all frames. Checks that nothing
    /// waits afterwards.
    private mutating func settle() {
        guard !isClosed else { return }
        wantsRecall = false
        for _ in 0..<10_000 {
            if let hash = recalling.take() { recall(hash) }
            if let securing = connection.session.securing {
                connection.session.securityEnded(.failed(Unwilling()), for: securing)
            }
            takeEvents()
            send(atMost: .max)
            takeEvents()
            if let request = asked.popFirst() {
                let answer: [UInt8] = [0x01, request[0], 0x03, 0x00, 0x0a]
                isAsking = false
                connection.receive(answer.span, at: now)
            } else if isIndicating {
                isIndicating = false
                connection.receive([0x1e].span, at: now)
            } else if recalling == nil, connection.session.securing == nil {
                break
            }
        }
        precondition(operations.isEmpty && open.isEmpty, "something waits for nothing")
    }

    private var oldest: TicketID? { operations.min { $0.number < $1.number } }

    private mutating func begin<Value>(_ submission: Submission<Value>) {
        if case .pending(let ticket) = submission { begin(ticket) }
    }

    private mutating func begin<Value>(_ ticket: Ticket<Value>) {
        let isNew = operations.insert(ticket.id).inserted
        precondition(isNew)
    }

    private mutating func takeEvents() {
        repeat {
            while let event = connection.nextEvent(serving: &server) {
                precondition(!isClosed || event.isEndOfDelivery)
                switch event {
                case .delivered(let id, _): precondition(open.remove(id) != nil)
                case .changed(let response): held.append(response)
                case .closed: isClosed = true
                default: break
                }
            }
        } while takeClientEvents()
        while server.nextEvent() != nil {}
    }

    private mutating func takeClientEvents() -> Bool {
        var isTaken = false
        while let event = connection.session.nextEvent() {
            isTaken = true
            switch event {
            case .finished(let ticket, _): precondition(operations.remove(ticket) != nil)
            case .securityWanted(let ticket, _): securing = ticket
            case .databaseWanted(let hash):
                if wantsRecall { recalling = .some(hash) } else { recall(hash) }
            case .databaseFound(let found):
                connection.session.adopt(CachedDatabase(found), of: peer, in: &cache)
            case .databaseChanged: cache.invalidate(peer)
            case .value(let value, let takers):
                guard let held = value.held else { break }
                for taker in takers.dropFirst() { connection.session.taken(held, by: taker) }
            case .subscriptionEnded, .discoveryNote: break
            }
        }
        return isTaken
    }

    private mutating func send(atMost limit: Int) {
        var count = 0
        while count < limit {
            count += 1
            var isThere = false
            let frame = [UInt8](capacity: ATTMTU.maximum.octets) {
                isThere = connection.nextFrame(into: &$0, at: now)
            }
            guard isThere else { return }
            room = max(room, connection.mtu.octets)
            precondition(!isClosed && frame.count <= room)
            if frame.first == ATTOpcode.handleValueIndication.rawValue {
                precondition(!isIndicating)
                isIndicating = true
            } else if let opcode = frame.first.map({ ATTOpcode($0) }), opcode.kind == .request {
                precondition(!isAsking)
                isAsking = true
                asked = [frame]
            }
            takeEvents()
        }
    }
}

extension GATTConnection.Event {
    /// Whether the event is the end of a delivery that began after the end of the connection, which is
    /// allowed.
    fileprivate var isEndOfDelivery: Bool {
        if case .delivered(_, .closed) = self { true } else { false }
    }
}

extension Array {
    fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}

private struct Unwilling: Error {}

private let peer = DeviceAddress(1, type: .random)
private let notified: AttributeHandle = 0x0012
private let indicated: AttributeHandle = 0x0015
/// The requests that the handlers have deferred.
private let later = Later()

private final class Later: @unchecked Sendable {
    // Sendable: libFuzzer runs one input at a time, on one thread.
    private var pending: [PendingAnswer] = []

    func append(_ answer: PendingAnswer) { pending.append(answer) }

    func removeAll() { pending = [] }

    func takeAll() -> [PendingAnswer] {
        defer { pending = [] }
        return pending
    }
}

private let database: AttributeDatabase = {
    let service = GATTService(
        0xff00,
        characteristics: [
            GATTCharacteristic(0xff01, properties: [.read, .write, .notify], length: .variable(max: 40)),
            GATTCharacteristic(0xff02, properties: [.read, .indicate], length: .variable(max: 40)),
            GATTCharacteristic(
                0xff03, properties: [.read, .write],
                onRead: { request in
                    later.append(request.pending)
                    return .later
                },
                onWrite: { request in
                    later.append(request.pending)
                    return .later
                }),
        ])
    guard let database = try? AttributeDatabase([service]) else { preconditionFailure("a wrong database") }
    return database
}()
