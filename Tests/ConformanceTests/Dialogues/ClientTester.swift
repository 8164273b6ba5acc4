import ATT
import BLECore
import GATT
import GATTClient
import GATTServer

/// Our client: the client's role of a connection whose server has an empty database.
struct ClientTester: Tester {
    private static let client = ClientID(rawValue: 1)

    private var connection = GATTConnection(client)
    private var server = GATTServer(.empty)
    private var running: [RunningProcedure] = []
    private var now = Instant.zero

    init() { server.connect(Self.client) }

    mutating func perform(_ command: String, _ arguments: [String]) throws {
        switch (command, arguments.first) {
        case ("do", let name?): try start(name, Array(arguments.dropFirst()))
        case ("receive", let octets?): try receive(upTo: octets)
        case ("wait", let seconds?): try wait(seconds)
        default: throw CommandError(command, arguments)
        }
    }

    mutating func receive(_ pdu: [UInt8]) { connection.receive(pdu.span, at: now) }

    mutating func turn() -> (sent: [[UInt8]], reported: [String]) {
        var reported = events()
        var sent: [[UInt8]] = []
        while let frame = connection.frame(at: now) {
            sent.append(frame)
            reported += events()
        }
        return (sent, reported + events())
    }

    /// `do PROCEDURE …`: begins a procedure or sends a command.
    private mutating func start(_ name: String, _ arguments: [String]) throws {
        if let command = try namedCommand(name, arguments) {
            _ = try connection.send(command)
        } else {
            let mtu = connection.configuration.receiveMTU
            running.append(try namedProcedure(name, arguments, mtu, in: &connection.session))
        }
    }

    /// `receive OCTETS`: sets the receive MTU of the bearer.
    private mutating func receive(upTo octets: String) throws {
        guard let number = UInt16(octets) else { throw CommandError("receive", [octets]) }
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = ATTMTU(number)
        connection = GATTConnection(Self.client, configuration)
    }

    /// `wait SECONDS`: advances the time.
    private mutating func wait(_ seconds: String) throws {
        guard let number = Int(seconds) else { throw CommandError("wait", [seconds]) }
        now = now + .seconds(number)
        connection.expire(at: now)
    }

    private mutating func events() -> [String] {
        var reported: [String] = []
        var isDone = false
        while !isDone {
            isDone = true
            while let event = connection.nextEvent(serving: &server) {
                if let line = describe(event) { reported.append(line) }
            }
            while let event = connection.session.nextEvent() {
                isDone = false
                reported += describe(event) ?? finished(event)
            }
        }
        return reported
    }

    private mutating func finished(_ event: ClientSession.Event) -> [String] {
        guard case .finished(let ticket, let outcome) = event,
            let index = running.firstIndex(where: { $0.ticket == ticket })
        else { return ["\(event)"] }
        return running.remove(at: index).describe(outcome)
    }
}
