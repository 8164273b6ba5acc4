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
        case .restlessDatabase: self = .peerMisbehaved(.restlessDatabase)
        // What raises the security of links throws nothing else.
        case .security(let error): self = error as? BLEError ?? .encryption(.unspecifiedError)
        case .cancelled: self = .cancelled
        }
    }

    /// What a client procedure's failure is.
    init(_ error: GATTClientError) {
        switch error {
        case .att(let response): self = .att(response)
        case .misbehaving(let request, let how): self = .peerMisbehaved(.answer(to: request, how))
        case .limit(.readOffset, let maximum, let value):
            self = .limit(.readOffset, maximum: maximum, value: value)
        case .limit(.valueLength, let maximum, let value):
            self = .limit(.valueLength, maximum: maximum, value: value)
        }
    }

    /// Something of ours that a bearer does not take.
    init(_ error: ATTLimitError) {
        var head = 0
        let limit: Limit
        switch error.limit {
        case .pdu(let opcode):
            // What a caller knows is the value, and not what stands before it.
            head = opcode.octetsBeforeValue
            limit = .value(opcode)
        case .requests: limit = .waitingRequests
        case .pushes: limit = .waitingCommands
        case .indications: limit = .waitingIndications
        }
        self = .limit(limit, maximum: error.maximum - head, value: error.value - head)
    }

    /// Why a transaction got no answer.
    init(_ error: ATTTransactionError) {
        switch error {
        case .closed(.transactionTimeout):
            self = .timedOut(.response, after: ATTLimits.transactionTimeout)
        case .closed(.disconnected): self = .disconnected(.unknown)
        case .unexpectedResponse(let response, let request):
            self = .peerMisbehaved(.unexpectedResponse(response, to: request))
        case .malformedResponse(let error): self = .peerMisbehaved(.malformedResponse(error))
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
