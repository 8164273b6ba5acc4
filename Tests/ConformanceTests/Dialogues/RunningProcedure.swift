import ATT
import GATTClient

/// Any procedure while it runs; its outcome is text.
struct RunningProcedure {
    let next: (_ mtu: Int) throws(GATTClientError) -> GATTStep<[String]>
    let receive: (ATTResponse) throws(GATTClientError) -> Void

    init(_ procedure: some GATTProcedure) {
        let box = Box(procedure)
        next = { (mtu) throws(GATTClientError) in
            switch try box.procedure.next(mtu: mtu) {
            case .ask(let request): .ask(request)
            case .done(let output): .done(describe(output))
            }
        }
        receive = { (response) throws(GATTClientError) in try box.procedure.receive(response) }
    }

    /// Shared by both closures.
    private final class Box<Procedure: GATTProcedure> {
        var procedure: Procedure

        init(_ procedure: Procedure) { self.procedure = procedure }
    }
}
