import ATT
import BLECore
import HCI

/// The statistics of one connection of a recording.
package struct ConnectionStatistics: Sendable {
    /// The traffic in one direction.
    package struct Traffic: Hashable, Sendable {
        /// The number of ACL data packets.
        package var packets = 0
        /// The number of octets of attribute values in these packets.
        package var valueOctets = 0

        package init(packets: Int = 0, valueOctets: Int = 0) {
            (self.packets, self.valueOctets) = (packets, valueOctets)
        }
    }

    /// A set of connection parameters that were in effect for a part of the connection.
    package struct Parameters: Hashable, Sendable {
        /// The connection interval in microseconds.
        package var interval: Int64
        /// The peripheral latency: the number of connection events that the peripheral can skip.
        package var latency: Int
        /// The supervision timeout in milliseconds.
        package var timeout: Int

        package init(interval: Int64, latency: Int, timeout: Int) {
            (self.interval, self.latency, self.timeout) = (interval, latency, timeout)
        }
    }

    /// The index of the adapter.
    package var adapter: UInt16
    package var handle: ConnectionHandle
    /// The address of the peer; nil if the recording lacks the connection's beginning.
    package var peer: DeviceAddress?
    /// Whether the connection is one of BR/EDR, which has no ATT_MTU.
    package var isClassic = false
    /// The role of the recorded host; nil if it is not known.
    package var role: ConnectionRole?
    /// The time of the connection's first packet or of its beginning.
    package var begin: RecordingTime
    /// The time of the connection's last packet or of its end.
    package var end: RecordingTime
    /// The traffic from host to controller.
    package var sent = Traffic()
    /// The traffic from controller to host.
    package var received = Traffic()
    /// The connection parameters in order, limited to the first 16 sets.
    package var parameters: [Parameters] = []
    /// The PHYs to and from the peer, as last set.
    package var phys: (transmit: PHY, receive: PHY)?
    /// The maximum payload of a packet on air in octets, to and from the peer.
    package var dataLengths: (transmit: Int, receive: Int)?
    /// The MTUs that the client and the server offered.
    package var mtus: (client: Int?, server: Int?)
    /// The disconnection reason; nil if the recording does not contain the end.
    package var reason: HCIStatus?

    init(_ packet: DecodedPacket, _ handle: ConnectionHandle) {
        (adapter, self.handle, peer) = (packet.adapter, handle, packet.peer)
        (begin, end) = (packet.time, packet.time)
    }

    /// The ATT_MTU that both devices negotiated.
    package var mtu: Int { min(mtus.client ?? 23, mtus.server ?? 23) }

    /// The time between the first and the last packet in seconds.
    package var seconds: Double { Double(end.microseconds &- begin.microseconds) / 1_000_000 }

    mutating func add(_ packet: DecodedPacket) {
        end = packet.time
        peer = peer ?? packet.peer
        isClassic = isClassic || packet.isClassic
        if let event = packet.outer.event { follow(event) }
        if packet.outer.isData { count(packet) }
    }

    private mutating func count(_ packet: DecodedPacket) {
        var octets = 0
        if let pdu = packet.top.att {
            // Of a packet that was cut, the end of the value is missing.
            octets = pdu.valueOctets + packet.missing
            if case .request(.exchangeMTU(let mtu)) = pdu { mtus.client = Int(mtu) }
            if case .response(.exchangeMTU(let mtu)) = pdu { mtus.server = Int(mtu) }
        }
        let way: WritableKeyPath<Self, Traffic> =
            packet.direction == .hostToController ? \.sent : \.received
        self[keyPath: way].packets += 1
        self[keyPath: way].valueOctets += octets
    }

    private mutating func follow(_ event: HCIEvent) {
        switch event {
        case .leMeta(.connectionComplete(let event)):
            role = event.role
            add(event.interval, event.latency, event.supervisionTimeout)
        case .leMeta(.enhancedConnectionComplete(let event)):
            role = event.role
            add(event.interval, event.latency, event.supervisionTimeout)
        case .leMeta(.connectionUpdateComplete(let event)) where event.status == .success:
            add(event.interval, event.latency, event.supervisionTimeout)
        case .leMeta(.phyUpdateComplete(let event)) where event.status == .success:
            phys = (event.transmit, event.receive)
        case .leMeta(.dataLengthChange(let event)):
            dataLengths = (Int(event.transmit.octets), Int(event.receive.octets))
        case .disconnectionComplete(let event): reason = event.reason
        default: break
        }
    }

    private mutating func add(_ interval: ConnectionInterval, _ latency: UInt16, _ timeout: Centiseconds) {
        let new = Parameters(
            interval: Int64(interval.rawValue) * 1250, latency: Int(latency),
            timeout: Int(timeout.rawValue) * 10)
        if parameters.last != new, parameters.count < 16 { parameters.append(new) }
    }
}

extension DecodedLayer {
    /// Whether this is a data packet, and neither a command nor an event.
    fileprivate var isData: Bool {
        switch bytes.first {
        case HCIPacketType.acl.rawValue, HCIPacketType.synchronous.rawValue, HCIPacketType.iso.rawValue: true
        default: false
        }
    }
}

extension ATTPDU {
    /// The number of octets of attribute values, which is the data that applications exchange.
    fileprivate var valueOctets: Int {
        switch self {
        case .unsolicited(.notification(_, let value)), .unsolicited(.indication(_, let value)),
            .request(.write(_, let value)), .request(.prepareWrite(_, _, let value)),
            .command(.write(_, let value)), .command(.signedWrite(_, let value, _)),
            .response(.read(let value)), .response(.readBlob(let value)),
            .response(.readMultiple(let value)):
            value.count
        case .unsolicited(.multipleNotification(let list)): list.reduce(0) { $0 + $1.value.count }
        case .response(.readMultipleVariable(let list)): list.reduce(0) { $0 + $1.value.count }
        default: 0
        }
    }
}
