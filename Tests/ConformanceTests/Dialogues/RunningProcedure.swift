import GATT
import GATTClient

/// A running procedure of any type, whose outcome is described as text.
struct RunningProcedure {
    let ticket: TicketID
    let describe: (Outcome<GATTFailure>) -> [String]

    init(_ procedure: some GATTProcedure, in session: inout ClientSession) {
        let ticket = session.run(procedure, raisesSecurity: false)
        self.ticket = ticket.id
        describe = { outcome in
            switch outcome.result(of: ticket) {
            case .success(let output): ConformanceTests.describe(output)
            case .failure(.procedure(let error)): [ConformanceTests.describe(error)]
            case .failure(.transaction(let error)): ["failed: \(error)"]
            case .failure(let failure): ["failed: \(failure)"]
            }
        }
    }
}
