import ATT
import GATTServer

/// Names a delivery on its connection, from `deliver` to its end.
public struct DeliveryID: RawRepresentable, Hashable, Sendable {
    /// The number; each is used once on a connection.
    public let rawValue: UInt64

    /// The delivery with that number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// How a delivery ended.
public enum DeliveryEnd: Hashable, Sendable {
    /// All notifications are given to the channel's queue, and all indications are confirmed.
    case complete
    /// A value does not fit the MTU; it was not sent, nor what came behind it.
    case refused(ATTLimitError)
    /// The connection ended first.
    case closed(ATTBearer.Closure)
}

/// The response to a write that waits until what it changed is kept.
public struct HeldResponse: Hashable, Sendable {
    let number: UInt64
}

extension GATTConnection {
    /// What a connection tells its owner.
    public enum Event: Hashable, Sendable {
        /// A value of a delivery was given to the channel's queue.
        case sent(ValueUpdate)
        /// The client confirmed the indication of a value.
        case confirmed(ValueUpdate)
        /// The delivery has come to its end.
        case delivered(DeliveryID, DeliveryEnd)
        /// A write was done whose response is held: the server's events tell what changed. It wants
        /// `release(_:isKept:)`.
        case changed(HeldResponse)
        /// The request with this opcode was kept too long and was refused with Unlikely Error.
        case overdue(ATTOpcode)
        /// To the client's role: a value that it was not asked for. An indication wants `confirm()`.
        case push(ATTPush)
        /// To the client's role: the peer's answer to a request, also when it is an error.
        case response(ATTTransactionID, ATTResponse)
        /// To the client's role: the request is over without an answer.
        case failed(ATTTransactionID, ATTTransactionError)
        /// The MTU changed.
        case mtu(ATTMTU)
        /// A command or a notification that was refused for want of room would be taken now.
        case ready
        /// The connection is over; nothing follows.
        case closed(ATTBearer.Closure)
    }
}
