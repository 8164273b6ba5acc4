import ATT
import GATTClient

extension BLEError {
    /// What a client procedure's failure is.
    init(_ error: GATTClientError) {
        switch error {
        case .att(let response): self = .att(response)
        case .limit(let name, let limit, let value): self = .limit(name, limit: limit, value: value)
        default: self = .peer("\(error)")
        }
    }

    /// The limit that a link's room is about.
    static let waitingPushes = "the number of commands and notifications that wait on one link"

    /// Something of ours that a bearer does not take.
    init(_ error: ATTLimitError) {
        let name =
            switch error.limit {
            case .pdu(let opcode): "the length of \(opcode) at this MTU"
            case .requests: "the number of requests that wait on one link"
            case .pushes: Self.waitingPushes
            case .indications: "the number of indications that wait on one link"
            }
        self = .limit(name, limit: error.maximum, value: error.value)
    }

    /// Why a transaction got no answer.
    init(_ error: ATTTransactionError) {
        switch error {
        case .closed(.transactionTimeout):
            self = .timedOut("the peer's answer", after: ATTLimits.transactionTimeout)
        case .closed(.disconnected): self = .disconnected(.unknown)
        case .unexpectedResponse, .malformedResponse: self = .peer("\(error)")
        }
    }
}
