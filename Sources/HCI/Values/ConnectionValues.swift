import BLECore

/// The requested parameters of a connection (Core Specification 5.4, Vol 4, Part E, 7.8.12).
package struct LEConnectionParameters: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout(
        """
        Connection_Interval_Min, Connection_Interval_Max, Max_Latency, Supervision_Timeout, Min_CE_Length, \
        Max_CE_Length
        """, Self.init
    ) {
        ($0.intervalMin, $0.intervalMax, $0.latency, $0.supervisionTimeout, $0.eventMin, $0.eventMax)
    }
    package static let packetName = "connection parameters"

    /// The minimum interval between connection events.
    package var intervalMin: ConnectionInterval
    /// The maximum interval between connection events.
    package var intervalMax: ConnectionInterval
    /// The number of connection events that the peripheral can skip, 0 to 499.
    package var latency: UInt16
    /// The supervision timeout: the time without a received packet after which the link is lost. It must be
    /// more than twice `(1 + latency) * intervalMax`.
    package var supervisionTimeout: Centiseconds
    /// The minimum length of a connection event, as a hint to the controller.
    package var eventMin: Slots
    /// The maximum length of a connection event, as a hint to the controller.
    package var eventMax: Slots

    package init(
        intervalMin: ConnectionInterval, intervalMax: ConnectionInterval, latency: UInt16 = 0,
        supervisionTimeout: Centiseconds, eventMin: Slots = Slots(rawValue: 0),
        eventMax: Slots = Slots(rawValue: 0)
    ) {
        (self.intervalMin, self.intervalMax, self.latency) = (intervalMin, intervalMax, latency)
        (self.supervisionTimeout, self.eventMin, self.eventMax) = (supervisionTimeout, eventMin, eventMax)
    }
}

/// The role of a device in a connection.
package struct ConnectionRole: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device initiated the connection.
    package static let central = ConnectionRole(rawValue: 0x00)
    /// The device advertised and accepted the connection.
    package static let peripheral = ConnectionRole(rawValue: 0x01)
}

extension ConnectionRole: CustomStringConvertible {
    /// "central", "peripheral", or the octet as "0x02".
    package var description: String {
        switch self {
        case .central: "central"
        case .peripheral: "peripheral"
        default: "0x" + rawValue.hex
        }
    }
}

/// The maximum size of data packets in one direction (Core Specification 5.4, Vol 6, Part B, 4.5.10).
public struct DataLength: HCIParameters, HCIField {
    /// The fields in wire order, for either direction: the specification prefixes these names with TX_ or
    /// RX_.
    package static let layout = HCILayout("Octets, Time", Self.init) { ($0.octets, $0.time) }
    package static let packetName = "data length"

    /// The payload of a packet in octets, 27 to 251.
    public var octets: UInt16
    /// The time on air in microseconds, 328 to 17,040.
    public var time: UInt16

    /// Creates a length from `octets` and `time`.
    public init(octets: UInt16, time: UInt16) { (self.octets, self.time) = (octets, time) }
}

/// A set of the 37 data channels, with bit 0 for channel 0; the three bits above are reserved.
public struct ChannelMap: HCIField, RawRepresentable {
    /// The bits of the channels; only 40 are encoded.
    public let rawValue: UInt64

    /// Creates a set from the low 40 bits of `rawValue`.
    public init(rawValue: UInt64) { self.rawValue = rawValue & 0xff_ffff_ffff }

    /// All 37 of the data channels.
    public static let all = ChannelMap(rawValue: 0x1f_ffff_ffff)

    /// Returns whether data channel `channel` is in the set.
    public func contains(_ channel: Int) -> Bool {
        (0..<37).contains(channel) && rawValue >> UInt64(channel) & 1 == 1
    }

    /// Reads five octets, the least significant first.
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        guard reader.remaining >= 5 else {
            throw reader.failure("", .truncated(needed: 5, available: reader.remaining))
        }
        let low = try reader.u32("")
        rawValue = UInt64(try reader.u8("")) << 32 | UInt64(low)
    }

    package var fieldWidth: Int { 5 }

    /// Writes five octets, the least significant first.
    package func write(into output: inout OutputSpan<UInt8>) {
        output.u32(UInt32(truncatingIfNeeded: rawValue))
        output.u8(UInt8(truncatingIfNeeded: rawValue >> 32))
    }
}

/// The number of packets of a connection that have left their buffers.
package struct CompletedPackets: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout("Connection_Handle, Num_Completed_Packets", Self.init) {
        ($0.connection, $0.count)
    }
    package static let packetName = "completed packets"

    package var connection: ConnectionHandle
    package var count: UInt16

    package init(connection: ConnectionHandle, count: UInt16) {
        (self.connection, self.count) = (connection, count)
    }
}

extension LEConnectionParameters {
    /// Whether a controller can accept these values: the interval is 7.5 ms to 4 s, the latency is at most
    /// 499 events, and the supervision timeout is 100 ms to 32 s and longer than two intervals, each
    /// including the events skipped because of the latency (Core Specification 5.4, Vol 4, Part E, 7.8.12;
    /// Vol 3, Part A, 4.20).
    package var isInRange: Bool {
        let intervals = ConnectionInterval(rawValue: 0x0006)...ConnectionInterval(rawValue: 0x0c80)
        let timeouts = Centiseconds(rawValue: 0x000a)...Centiseconds(rawValue: 0x0c80)
        guard intervals.contains(intervalMin), intervals.contains(intervalMax), intervalMin <= intervalMax,
            latency <= 499, timeouts.contains(supervisionTimeout), eventMin <= eventMax
        else { return false }
        return supervisionTimeout.duration > intervalMax.duration * (Int(latency) + 1) * 2
    }
}
