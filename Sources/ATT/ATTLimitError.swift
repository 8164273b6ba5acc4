/// The error of a PDU that exceeds a limit of the bearer. No part of the PDU was sent, and it was not
/// truncated.
package struct ATTLimitError: Error, Hashable, Sendable {
    /// The kind of limit that was exceeded.
    package enum Limit: Hashable, Sendable {
        /// The length of a PDU in octets, limited by the bearer's MTU.
        case pdu(ATTOpcode)
        /// The number of requests that wait for their turn.
        case requests
        /// The number of commands and notifications that wait for the transport.
        case notifications
        /// The number of indications that wait for their turn.
        case indications
    }

    package let limit: Limit
    package let maximum: Int
    /// The value that exceeds the limit.
    package let value: Int

    /// Creates the error of a `value` that is more than the `maximum` of `limit`.
    package init(_ limit: Limit, maximum: Int, value: Int) {
        self.limit = limit
        self.maximum = maximum
        self.value = value
    }

    /// Throws when `value` is more than `maximum`.
    static func check(_ limit: Limit, _ value: Int, atMost maximum: Int) throws(ATTLimitError) {
        if value > maximum { throw ATTLimitError(limit, maximum: maximum, value: value) }
    }
}

extension ATTLimitError: CustomStringConvertible {
    /// `Write Request: 30 octets, the MTU allows 23`.
    package var description: String {
        switch limit {
        case .pdu(let opcode): "\(opcode): \(value) octets, the MTU allows \(maximum)"
        case .requests: "\(value) requests would wait, the limit is \(maximum)"
        case .notifications: "\(value) commands and notifications would wait, the limit is \(maximum)"
        case .indications: "\(value) indications would wait, the limit is \(maximum)"
        }
    }
}
