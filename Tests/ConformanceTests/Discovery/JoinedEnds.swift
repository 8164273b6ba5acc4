import ATT
import BLECore
import GATT
import GATTClient
import GATTServer

/// Our client and something that answers it, octets in and octets out.
struct JoinedEnds {
    private static let client = ClientID(rawValue: 1)

    private var connection: GATTConnection
    private var nothing = GATTServer(.empty)
    private(set) var requests = 0

    var mtu: ATTMTU { connection.mtu }

    /// Exchanges the MTU when `mtu`, which is ours, is not the default.
    init(mtu: UInt16, _ server: ([UInt8]) -> [[UInt8]]) throws {
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = ATTMTU(mtu)
        connection = GATTConnection(Self.client, configuration)
        nothing.connect(Self.client)
        guard mtu > 23 else { return }
        _ = try run(ExchangeMTU(ATTMTU(mtu)), limit: 1, server)
    }

    /// Runs a procedure to its end; nil when it made more than `limit` requests, or the bearer failed it.
    mutating func run<Procedure: GATTProcedure>(
        _ procedure: Procedure, limit: Int, _ server: ([UInt8]) -> [[UInt8]]
    ) throws -> Procedure.Output? {
        let ticket = connection.session.run(procedure, raisesSecurity: false)
        requests = 0
        while connection.nextEvent(serving: &nothing) != nil {}
        while let frame = connection.frame() {
            if isOfProcedure(frame) { requests += 1 }
            guard requests <= limit else { break }
            for answer in server(frame) { connection.receive(answer.span, at: .zero) }
            while connection.nextEvent(serving: &nothing) != nil {}
        }
        connection.cancel(ticket.id)
        while let event = connection.session.nextEvent() {
            guard case .finished(ticket.id, let outcome) = event else { continue }
            switch outcome.result(of: ticket) {
            case .success(let output): return output
            case .failure(.procedure(let error)): throw error
            case .failure: return nil
            }
        }
        return nil
    }

    /// Whether a procedure asks this: not a confirmation, a response of our server, or what makes theirs forget.
    private func isOfProcedure(_ frame: [UInt8]) -> Bool {
        guard let opcode = frame.first, frame != [0x18, 0x00] else { return false }
        return opcode & 0x41 == 0 && opcode != ATTOpcode.handleValueConfirmation.rawValue
    }
}
