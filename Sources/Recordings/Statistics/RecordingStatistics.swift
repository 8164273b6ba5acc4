import BLECore
import HCI

/// The statistics of a recording. Memory use depends on the number of names and connections, not of packets.
package struct RecordingStatistics: Sendable {
    /// The number of packets added.
    package private(set) var packets = 0
    /// The time of the first packet.
    package private(set) var begin: RecordingTime?
    /// The time of the last packet.
    package private(set) var end: RecordingTime?
    /// The number of packets with each name.
    package private(set) var names: [String: Int] = [:]
    /// The number of occurrences of each error.
    package private(set) var errors: [String: Int] = [:]
    /// The response times by the name of the request.
    package private(set) var latencies: [String: LatencyHistogram] = [:]
    /// The connections in the order in which they began.
    package private(set) var connections: [ConnectionStatistics] = []
    /// The number of packets that belong to connections beyond the first thousand.
    package private(set) var furtherConnections = 0

    private struct Key: Hashable {
        let adapter: UInt16
        let handle: ConnectionHandle
    }
    private var open: [Key: Int] = [:]

    private static let connectionLimit = 1000
    /// The maximum number of names. It exceeds the number of messages, so further names result from damage;
    /// they are counted together.
    private static let nameLimit = 2000

    package init() {}

    /// Counts the packet and its times.
    package mutating func add(_ packet: DecodedPacket) {
        packets += 1
        begin = begin ?? packet.time
        end = packet.time
        Self.count(packet.top.name, in: &names)
        for layer in packet.layers where layer.problem != nil {
            Self.count("malformed \(layer.name)", in: &errors)
        }
        if let failure = packet.failure { Self.count(failure, in: &errors) }
        if let request = packet.request {
            let name = latencies[request.name] != nil || latencies.count < 500 ? request.name : "other"
            latencies[name, default: LatencyHistogram()].add(request.latency)
        }
        if let handle = packet.connection { add(packet, handle) }
    }

    /// Ends the statistics, after which the caller adds no further packets.
    package mutating func finish() { open = [:] }

    private mutating func add(_ packet: DecodedPacket, _ handle: ConnectionHandle) {
        let key = Key(adapter: packet.adapter, handle: handle)
        if packet.outer.beginsConnection { open[key] = nil }
        if open[key] == nil {
            guard connections.count < Self.connectionLimit else {
                furtherConnections += 1
                return
            }
            open[key] = connections.count
            connections.append(ConnectionStatistics(packet, handle))
        }
        if let index = open[key] { connections[index].add(packet) }
        if case .disconnectionComplete(let event)? = packet.outer.event, event.status == .success {
            open[key] = nil
        }
    }

    private static func count(_ name: String, in counts: inout [String: Int]) {
        let isKnown = counts[name] != nil || counts.count < nameLimit
        counts[isKnown ? name : "other", default: 0] += 1
    }
}

extension DecodedLayer {
    /// Whether this is the event of a new connection.
    fileprivate var beginsConnection: Bool {
        if case .classic(let event) = content { return event.connection != nil && event.status == .success }
        return switch event {
        case .leMeta(.connectionComplete), .leMeta(.enhancedConnectionComplete): true
        default: false
        }
    }
}
