/// ATT_MTU: the maximum length of one PDU on a bearer in octets (Core Specification 5.4, Vol 3, Part F,
/// 3.2.8), and the length that it leaves for a value in each PDU. Never below 23, the minimum on LE, nor
/// above 517, the length of the longest value with the longest header.
public struct ATTMTU: Hashable, Comparable, Sendable {
    /// The maximum length of one PDU in octets, 23 to 517.
    public let octets: Int

    /// Creates an MTU of `octets`. Smaller numbers become 23 and greater ones 517, whatever the peer sent
    /// (3.4.2.2).
    @inlinable
    public init(_ octets: UInt16) { self.octets = min(max(23, Int(octets)), 517) }

    /// 23 octets: the initial MTU of a bearer over LE (Vol 3, Part G, 5.2.1).
    public static let `default` = ATTMTU(23)
    /// 517 octets: a Prepare Write Response with the longest value.
    public static let maximum = ATTMTU(517)

    /// The number of octets as the MTU PDUs encode it.
    @inlinable package var wire: UInt16 { UInt16(truncatingIfNeeded: octets) }

    /// The maximum length of the value in a Read, Read Blob, Read Multiple or Read Multiple Variable
    /// Response.
    @inlinable package var readValue: Int { octets &- 1 }
    /// The maximum length of the value in an entry of a Read By Type Response (3.4.4.2), whose length field
    /// has one octet.
    @inlinable package var readByTypeValue: Int { min(octets &- 4, 253) }
    /// The maximum length of the value in an entry of a Read By Group Type Response (3.4.4.10).
    @inlinable package var readByGroupTypeValue: Int { min(octets &- 6, 251) }
    /// The maximum length of the value in a Write Request or a Write Command.
    @inlinable package var writeValue: Int { octets &- 3 }
    /// The maximum length of the value in a Prepare Write Request or its response.
    @inlinable package var prepareWriteValue: Int { octets &- 5 }
    /// The maximum length of the value in a notification or an indication.
    @inlinable package var notificationValue: Int { octets &- 3 }

    /// Orders by the number of octets.
    @inlinable
    public static func < (left: ATTMTU, right: ATTMTU) -> Bool { left.octets < right.octets }
}

extension ATTMTU: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates an MTU of that many octets.
    @inlinable
    public init(integerLiteral octets: UInt16) { self.init(octets) }

    /// The number of octets in decimal: `517`.
    public var description: String { String(octets) }
}

/// Numbers that the specification fixes for every ATT bearer.
package enum ATTLimits {
    /// The maximum length of an attribute's value in octets (Vol 3, Part F, 3.2.9).
    package static let valueLength = 512
    /// The time limit for the answer to a request or an indication (3.3.3).
    package static let transactionTimeout: Duration = .seconds(30)
}
