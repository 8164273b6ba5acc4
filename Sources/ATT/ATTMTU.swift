/// ATT_MTU: the most octets of one PDU on a bearer (Core Specification 5.4, Vol 3, Part F, 3.2.8), and
/// what it leaves for a value in each PDU. Never below 23, the least that LE allows, nor above 517, which is
/// the longest value with the longest header.
public struct ATTMTU: Hashable, Comparable, Sendable {
    /// Octets of one PDU, 23 to 517.
    public let octets: Int

    /// An MTU of `octets`; smaller numbers are 23, greater ones 517, whatever the peer said (3.4.2.2).
    @inlinable
    public init(_ octets: UInt16) { self.octets = min(max(23, Int(octets)), 517) }

    /// 23 octets: what a bearer over LE begins with (Vol 3, Part G, 5.2.1).
    public static let `default` = ATTMTU(23)
    /// 517 octets: a Prepare Write Response with the longest value.
    public static let maximum = ATTMTU(517)

    /// The number as MTU PDUs carry it.
    @inlinable package var wire: UInt16 { UInt16(truncatingIfNeeded: octets) }

    /// The value of a Read, Read Blob, Read Multiple or Read Multiple Variable Response.
    @inlinable package var readValue: Int { octets &- 1 }
    /// The value of an entry of a Read By Type Response (3.4.4.2); its length field has one octet.
    @inlinable package var readByTypeValue: Int { min(octets &- 4, 253) }
    /// The value of an entry of a Read By Group Type Response (3.4.4.10).
    @inlinable package var readByGroupTypeValue: Int { min(octets &- 6, 251) }
    /// The value of a Write Request or a Write Command.
    @inlinable package var writeValue: Int { octets &- 3 }
    /// The value of a Prepare Write Request or its response.
    @inlinable package var prepareWriteValue: Int { octets &- 5 }
    /// The value of a notification or an indication.
    @inlinable package var notificationValue: Int { octets &- 3 }

    /// Orders by the number of octets.
    @inlinable
    public static func < (left: ATTMTU, right: ATTMTU) -> Bool { left.octets < right.octets }
}

extension ATTMTU: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// An MTU of that many octets.
    @inlinable
    public init(integerLiteral octets: UInt16) { self.init(octets) }

    /// The number of octets in decimal: `517`.
    public var description: String { String(octets) }
}

/// Numbers that the specification fixes for every ATT bearer.
package enum ATTLimits {
    /// The most octets of an attribute's value (Vol 3, Part F, 3.2.9).
    package static let valueLength = 512
    /// How long a request or an indication may wait for its answer (3.3.3).
    package static let transactionTimeout: Duration = .seconds(30)
}
