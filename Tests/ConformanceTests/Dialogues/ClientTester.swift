import ATT
import BLECore
import GATTClient

/// Our client, which runs one procedure at a time over a bearer.
struct ClientTester: Tester {
    private var bearer = ATTBearer()
    private var running: RunningProcedure?
    private var transaction: ATTTransactionID?
    private var told: [String] = []
    private var now = Instant.zero

    init() {}

    mutating func perform(_ command: String, _ arguments: [String]) throws {
        switch (command, arguments.first) {
        case ("do", let name?): try start(name, Array(arguments.dropFirst()))
        case ("receive", let octets?): try receive(upTo: octets)
        case ("wait", let seconds?): try wait(seconds)
        default: throw CommandError(command, arguments)
        }
    }

    mutating func receive(_ pdu: [UInt8]) { bearer.receive(pdu.span, at: now) }

    mutating func turn() -> (sent: [[UInt8]], told: [String]) {
        while let event = bearer.nextEvent() { take(event) }
        var sent: [[UInt8]] = []
        while let frame = bearer.frame(at: now) { sent.append(frame) }
        defer { told = [] }
        return (sent, told)
    }

    /// `do PROCEDURE …`.
    private mutating func start(_ name: String, _ arguments: [String]) throws {
        if name == "exchange-mtu" {
            transaction = try bearer.exchangeMTU()
        } else if let command = try namedCommand(name, arguments) {
            try bearer.send(command)
        } else {
            running = try namedProcedure(name, arguments)
            advance()
        }
    }

    /// `receive OCTETS`: the bearer receives so much.
    private mutating func receive(upTo octets: String) throws {
        guard let number = UInt16(octets) else { throw CommandError("receive", [octets]) }
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = ATTMTU(number)
        bearer = ATTBearer(configuration)
    }

    /// `wait SECONDS`: so much time goes by.
    private mutating func wait(_ seconds: String) throws {
        guard let number = Int(seconds) else { throw CommandError("wait", [seconds]) }
        now = now + .seconds(number)
        bearer.expire(at: now)
    }

    private mutating func take(_ event: ATTBearer.Event) {
        switch event {
        case .response(let id, let response) where id == transaction && running != nil:
            do throws(GATTClientError) {
                try running?.receive(response)
                advance()
            } catch {
                end([describe(error)])
            }
        case .response(let id, .exchangeMTU) where id == transaction: end(["done"])
        case .failed(let id, let error) where id == transaction: end(["failed: \(error)"])
        case .push(.indication):
            told.append(describe(event))
            bearer.confirm()
        default: told.append(describe(event))
        }
    }

    /// Sends what the procedure asks next, or tells what came of it.
    private mutating func advance() {
        do throws(GATTClientError) {
            switch try running?.next(bearer.mtu.octets) {
            case .ask(let request): transaction = try? bearer.request(request)
            case .done(let lines): end(lines)
            case nil: break
            }
        } catch {
            end([describe(error)])
        }
    }

    private mutating func end(_ lines: [String]) {
        told += lines
        running = nil
        transaction = nil
    }
}
