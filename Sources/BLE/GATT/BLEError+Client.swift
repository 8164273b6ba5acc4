import ATT
import GATT
import GATTClient

extension BLEError {
    /// Why an operation of the client's role has no result.
    init(_ failure: GATTFailure) {
        switch failure {
        case .procedure(let error): self.init(error)
        case .limit(let error): self.init(error)
        case .transaction(let error): self.init(error)
        case .databaseChanged(let handle): self = .databaseChanged(handle)
        case .restlessDatabase: self = .peer("its database changes as often as it is discovered")
        // What raises the security of links throws nothing else.
        case .security(let error): self = error as? BLEError ?? .peer("\(error)")
        case .cancelled: self = .cancelled
        }
    }

    /// What a client procedure's failure is.
    init(_ error: GATTClientError) {
        switch error {
        case .att(let response): self = .att(response)
        case .limit(let name, let limit, let value): self = .limit(name, limit: limit, value: value)
        default: self = .peer("\(error)")
        }
    }

    /// Something of ours that a bearer does not take.
    init(_ error: ATTLimitError) {
        let name: String
        var head = 0
        switch error.limit {
        case .pdu(let opcode):
            // What a caller knows is the value, and not what stands before it.
            head = opcode.octetsBeforeValue
            name = "the length in octets of a \(opcode)'s value at this MTU"
        case .requests: name = "the number of requests that wait on one link"
        case .pushes: name = "the number of commands and notifications that wait on one link"
        case .indications: name = "the number of indications that wait on one link"
        }
        self = .limit(name, limit: error.maximum - head, value: error.value - head)
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

extension ATTOpcode {
    /// Octets of a PDU that are not its value's; of most that have one, opcode and handle.
    fileprivate var octetsBeforeValue: Int {
        switch self {
        case .signedWriteCommand: 3 + ATTSignature.encodedCount
        case .prepareWriteRequest: 5
        default: 3
        }
    }
}
