import ATT
import BLECore

/// A value that the peer sent without a request.
public struct ReceivedValue: Hashable, Sendable {
    /// The handle of the characteristic's value.
    public var handle: AttributeHandle
    /// The octets that were notified or indicated.
    public var value: [UInt8]
    /// Whether the value was indicated, and is therefore confirmed to the peer.
    public var isIndication: Bool
    /// Whether the value fills its packet, so that its end may be missing: a server truncates a longer value
    /// to MTU - 3 octets, and does not mark it as truncated (Core Specification 5.4, Vol 3, Part F, 3.4.7.1).
    public var mayBeTruncated: Bool
    /// The length of the whole value in octets, if the packet states it and contains less of the value.
    public var length: Int?
    /// The time of arrival, by the loop's clock.
    public var received: Instant
    /// The confirmation that waits until the value is taken.
    package var held: PendingConfirmations.Number?

    package init(
        handle: AttributeHandle, value: [UInt8], isIndication: Bool = false, mayBeTruncated: Bool = false,
        length: Int? = nil, received: Instant = .zero
    ) {
        self.handle = handle
        self.value = value
        self.isIndication = isIndication
        self.mayBeTruncated = mayBeTruncated
        self.length = length
        self.received = received
    }
}

extension ATTUnsolicited {
    /// Returns the values in the PDU, received on a bearer with this MTU.
    package func values(mtu: ATTMTU, at now: Instant) -> [ReceivedValue] {
        switch self {
        case .notification(let handle, let value), .indication(let handle, let value):
            [
                ReceivedValue(
                    handle: handle, value: value, isIndication: opcode == .handleValueIndication,
                    mayBeTruncated: value.count >= mtu.notificationValue, received: now)
            ]
        case .multipleNotification(let list):
            list.map {
                ReceivedValue(
                    handle: $0.handle, value: Array($0.value), mayBeTruncated: $0.isTruncated,
                    length: $0.isTruncated ? $0.length : nil, received: now)
            }
        }
    }
}

extension ReceivedValue: CustomStringConvertible {
    /// `notification of 0x0012: b208`, or `indication of …`; a value that may be truncated ends in `…`.
    public var description: String {
        "\(isIndication ? "indication" : "notification") of \(handle): \(value.hex)\(mayBeTruncated ? "…" : "")"
    }
}
