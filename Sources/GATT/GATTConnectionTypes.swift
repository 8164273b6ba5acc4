import ATT
import BLECore
import GATTServer

/// Names a delivery on its connection, from `deliver` to its end.
package struct DeliveryID: RawRepresentable, Hashable, Sendable {
    /// The number; each is used once on a connection.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

package enum DeliveryEnd: Hashable, Sendable {
    /// All notifications are given to the channel's queue, and all indications are confirmed.
    case complete
    /// A value does not fit the MTU. Nothing was sent; where the MTU sank meanwhile, what was not sent by then.
    case refused(ATTLimitError)
    /// The connection ended before the delivery did.
    case closed(ATTBearer.Closure)
}

/// The response to a write that waits until what it changed is kept.
package struct HeldResponse: Hashable, Sendable {
    let number: UInt64
}

extension GATTConnection {
    /// What a connection reports to its owner.
    package enum Event: Hashable, Sendable {
        /// A value of a delivery was given to the channel's queue.
        case sent(ValueUpdate)
        /// The client confirmed the indication of a value.
        case confirmed(ValueUpdate)
        /// The delivery has come to its end.
        case delivered(DeliveryID, DeliveryEnd)
        /// A write was done whose response is held, or prepared writes were executed or cancelled: the server's events
        /// report what changed. It is answered by `release(_:isKept:)`.
        case changed(HeldResponse)
        /// The request with this opcode was kept too long and was refused with Unlikely Error.
        case overdue(ATTOpcode)
        /// The ends have agreed on this MTU.
        case mtu(ATTMTU)
        /// The connection is over. Nothing follows but the ends of deliveries that are begun after it.
        case closed(ATTBearer.Closure)
    }
}
