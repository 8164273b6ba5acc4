import ATT
import BLECore
import GATTClient

/// Our client's bearer and something that answers it, octets in and octets out.
struct JoinedEnds {
    private(set) var bearer = ATTBearer()
    private(set) var requests = 0

    /// Tells the server our MTU, which is `mtu`.
    init(mtu: UInt16, _ server: ([UInt8]) -> [[UInt8]]) throws {
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = ATTMTU(mtu)
        bearer = ATTBearer(configuration)
        guard mtu > 23 else { return }
        _ = try bearer.exchangeMTU()
        carry(server)
        while bearer.nextEvent() != nil {}
    }

    /// Runs a procedure to its end; nil when it made more than `limit` requests, or the bearer failed it.
    mutating func run<Procedure: GATTProcedure>(
        _ procedure: Procedure, limit: Int, _ server: ([UInt8]) -> [[UInt8]]
    ) throws -> Procedure.Output? {
        var procedure = procedure
        requests = 0
        while requests <= limit {
            switch try procedure.next(mtu: bearer.mtu.octets) {
            case .done(let output): return output
            case .ask(let request):
                requests += 1
                let id = try bearer.request(request)
                carry(server)
                guard let response = response(to: id) else { return nil }
                try procedure.receive(response)
            }
        }
        return nil
    }

    private mutating func carry(_ server: ([UInt8]) -> [[UInt8]]) {
        while let frame = bearer.frame() {
            for answer in server(frame) { bearer.receive(answer.span, at: .zero) }
        }
    }

    private mutating func response(to id: ATTTransactionID) -> ATTResponse? {
        var found: ATTResponse?
        while let event = bearer.nextEvent() {
            if case .response(id, let response) = event { found = response }
        }
        return found
    }
}
