import BLECore

/// Names a request or an indication of ours on its bearer, from sending it to its end.
package struct ATTTransactionID: RawRepresentable, Hashable, Sendable {
    /// The number; each is used once on a bearer.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Why a request of ours got no response, or an indication no confirmation. That a server refused is no
/// failure but a response, `.error`.
package enum ATTTransactionError: Error, Hashable, Sendable {
    /// The bearer ended before the response arrived.
    case closed(ATTBearer.Closure)
    /// The peer has sent something that is no answer to the request, and no answer in time.
    case unexpectedResponse(ATTOpcode, to: ATTOpcode)
    /// The response was not what its opcode says.
    case malformedResponse(DecodeError)
}

extension ATTTransactionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .closed(let reason): reason.description
        case .unexpectedResponse(let response, let request): "the peer answered \(request) with \(response)"
        case .malformedResponse(let error): error.description
        }
    }
}

extension ATTBearer {
    /// What a bearer reports to its owner.
    package enum Event: Hashable, Sendable {
        /// To the server: answer it with `respond(_:)`. The next comes only after that.
        case request(ATTRequest)
        /// To the server: do it, there is no answer.
        case command(ATTCommand)
        /// To the client. An indication is answered by `confirm()`.
        case unsolicited(ATTUnsolicited)
        /// To the client: the peer's answer to a request, also when it is an error.
        case response(ATTTransactionID, ATTResponse)
        /// The transaction is over without an answer.
        case failed(ATTTransactionID, ATTTransactionError)
        /// To the server: the indication arrived.
        case confirmed(ATTTransactionID)
        /// To the server: the request with this opcode was kept too long and the bearer refused it with
        /// Unlikely Error.
        case overdue(ATTOpcode)
        /// The MTU of the bearer has changed to this.
        case mtu(ATTMTU)
        /// A command or notification that was refused for want of room would be taken now.
        case ready
        /// The bearer is over; nothing follows.
        case closed(Closure)
    }

    package enum Closure: Hashable, Sendable, CustomStringConvertible {
        /// A request or an indication was not answered in time. No other PDU may follow on this bearer
        /// (3.3.3), so its link is of no use any more.
        case transactionTimeout
        /// The link has been disconnected.
        case disconnected

        package var description: String {
            switch self {
            case .transactionTimeout: "the peer did not answer in time"
            case .disconnected: "the link is gone"
            }
        }
    }

    /// What the owner of a bearer chooses.
    package struct Configuration: Hashable, Sendable {
        /// The longest PDU that the owner's channel takes, sent to the peer in an MTU exchange.
        package var receiveMTU = ATTMTU.maximum
        /// How long a request or an indication may wait for its answer.
        package var timeout = ATTLimits.transactionTimeout
        /// How long the owner may take to answer a request; less than a client's time limit of 30 s.
        package var answerTimeout: Duration = .seconds(28)
        /// Requests of ours that may wait for their turn.
        package var requestLimit = 64
        /// Commands and notifications that may wait for the transport.
        package var unsolicitedLimit = 64
        /// Indications that may wait for their turn.
        package var indicationLimit = 64
        /// Requests that a peer may send before the one ahead of them is answered, and responses that may
        /// wait for the transport. A peer that obeys 3.3.2 needs 1; what is over the limit is dropped.
        package var earlyRequestLimit = 16

        package init() {}
    }

    /// What a peer sent that no rule of the specification lets us answer, by kind.
    package struct Ignored: Hashable, Sendable {
        /// Frames without an opcode, and malformed commands, notifications and confirmations.
        package var malformed = 0
        /// Commands that the specification does not define.
        package var unknownCommands = 0
        /// Responses to no request, or to one that was answered.
        package var responses = 0
        /// Confirmations while no indication waited for one.
        package var confirmations = 0
        /// Requests that were dropped because they exceeded `earlyRequestLimit`.
        package var requests = 0

        package var total: Int { malformed + unknownCommands + responses + confirmations + requests }
    }
}
