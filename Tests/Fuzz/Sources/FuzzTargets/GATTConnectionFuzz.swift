import ATT
import BLECore
import GATT
import GATTServer

/// A connection between a peer that sends anything and an application that does anything: each delivery ends once, each
/// held response is answered once, no frame is over the MTU, one indication at most waits for its confirmation, and after
/// the end nothing comes.
///
/// The input is operations of one octet, some with arguments; a PDU comes after an octet that tells its length.
public func fuzzGATTConnection(_ bytes: Span<UInt8>) {
    var input = ByteReader(bytes, of: "fuzz input")
    var played = PlayedConnection()
    while let operation = try? input.u8("operation") { played.perform(operation, &input) }
    played.end()
}

/// The connection, and what must be true of it.
private struct PlayedConnection {
    private static let client = ClientID(rawValue: 1)

    private var server = GATTServer(database)
    private var connection: GATTConnection
    private var now = Instant.zero
    private var open: Set<DeliveryID> = []
    private var held: [HeldResponse] = []
    private var added: [AttributeHandle] = []
    private var isIndicating = false
    private var isClosed = false
    /// The longest PDU that has been allowed; what waits while the MTU sinks is sent all the same.
    private var room = 0

    init() {
        var configuration = ATTBearer.Configuration()
        (configuration.pushLimit, configuration.indicationLimit) = (3, 3)
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
        case 8: if operation == 0xf8 { connection.close(.disconnected) }
        default:
            let length = min(Int(operation >> 2), input.remaining)
            let frame = (try? input.bytes(length, "PDU")) ?? []
            if frame == [0x1e] { isIndicating = false }
            room = max(room, connection.mtu.octets)
            connection.receive(frame.span, at: now)
        }
        takeEvents()
    }

    /// The link goes: all that is open ends.
    mutating func end() {
        connection.close(.disconnected)
        takeEvents()
        precondition(open.isEmpty && isClosed)
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

    private mutating func takeEvents() {
        while let event = connection.nextEvent(serving: &server) {
            precondition(!isClosed || event.isEndOfDelivery)
            switch event {
            case .delivered(let id, _): precondition(open.remove(id) != nil)
            case .changed(let response): held.append(response)
            case .closed: isClosed = true
            default: break
            }
        }
        while server.nextEvent() != nil {}
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
            }
            takeEvents()
        }
    }
}

extension GATTConnection.Event {
    /// What may still be told of a delivery that was begun after the end.
    fileprivate var isEndOfDelivery: Bool {
        if case .delivered(_, .closed) = self { true } else { false }
    }
}

private let notified: AttributeHandle = 0x0012
private let indicated: AttributeHandle = 0x0015
/// The requests that the handlers have put off.
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
