import ATT
import BLECore
import GATT
import GATTClient
import GATTServer

/// Our client, which exchanges PDUs with a function that answers them.
struct JoinedEnds {
    private static let client = ClientID(rawValue: 1)

    private var connection: GATTConnection
    private var nothing = GATTServer(.empty)
    private(set) var requests = 0

    var mtu: ATTMTU { connection.mtu }

    /// Exchanges the MTU if `mtu`, the client's receive MTU, exceeds the default.
    init(mtu: UInt16, _ server: ([UInt8]) -> [[UInt8]]) throws {
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = ATTMTU(mtu)
        connection = GATTConnection(Self.client, configuration)
        nothing.connect(Self.client)
        guard mtu > 23 else { return }
        _ = try run(ExchangeMTU(ATTMTU(mtu)), limit: 1, server)
    }

    /// Runs a procedure to its end. Returns nil if it made more than `limit` requests, or if the bearer failed.
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

    /// Returns whether the PDU is a request of a procedure: not a confirmation, not a response of our server, and
    /// not the request that discards the peer's prepared writes.
    private func isOfProcedure(_ frame: [UInt8]) -> Bool {
        guard let opcode = frame.first, frame != [0x18, 0x00] else { return false }
        return opcode & 0x41 == 0 && opcode != ATTOpcode.handleValueConfirmation.rawValue
    }
}
