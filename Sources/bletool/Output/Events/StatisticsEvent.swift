import BLECore
import HCI
import Recordings

/// The result of `decode --stats`: statistics about the packets of a recording.
struct StatisticsEvent: Event {
    let statistics: RecordingStatistics

    var json: JSONValue {
        [
            "event": "statistics", "packets": JSONValue(statistics.packets),
            "begin": JSONValue(statistics.begin?.exactDescription),
            "end": JSONValue(statistics.end?.exactDescription),
            "names": Self.object(statistics.names), "errors": Self.object(statistics.errors),
            "latencies": .array(
                latencies.map { name, times in
                    [
                        "request": .string(name), "count": JSONValue(times.count),
                        "minimum": Self.milliseconds(times.minimum), "mean": Self.milliseconds(times.mean),
                        "median": Self.milliseconds(times.quantile(0.5)),
                        "p95": Self.milliseconds(times.quantile(0.95)),
                        "maximum": Self.milliseconds(times.maximum),
                    ]
                }),
            "connections": .array(statistics.connections.map { $0.json }),
        ]
    }

    func lines(colored: Bool) -> [String] {
        var lines = ["\(statistics.packets) packets\(duration)"]
        func section(_ title: String, _ content: [String]) {
            if !content.isEmpty { lines += ["", Style.bold(title, when: colored)] + content }
        }
        section("Messages", Self.counts(statistics.names))
        if !latencies.isEmpty {
            var table = Table(columns: [
                ("latency of", .left), ("count", .right), ("min", .right), ("mean", .right), ("p50", .right),
                ("p95", .right), ("max", .right),
            ])
            table.rows = latencies.map { name, times in
                [name, "\(times.count)"]
                    + [
                        times.minimum, times.mean, times.quantile(0.5), times.quantile(0.95), times.maximum,
                    ].map(Self.text)
            }
            lines += [""] + table.lines(colored: colored)
        }
        section("Connections", statistics.connections.flatMap { $0.lines })
        if statistics.furtherConnections > 0 {
            lines.append("and \(statistics.furtherConnections) packets of further connections")
        }
        section("Errors", Self.counts(statistics.errors))
        return lines
    }

    private var duration: String {
        guard let begin = statistics.begin, let end = statistics.end else { return "" }
        let seconds = Double(end.microseconds &- begin.microseconds) / 1_000_000
        return " in \(seconds.rounded(to: 3)) s, from \(begin.exactDescription)"
    }

    /// The latencies by name, those with the highest count first.
    private var latencies: [(key: String, value: LatencyHistogram)] {
        statistics.latencies.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    }

    private static func sorted(_ counts: [String: Int]) -> [(key: String, value: Int)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    }

    private static func object(_ counts: [String: Int]) -> JSONValue {
        .object(sorted(counts).map { .init($0.key, JSONValue($0.value)) })
    }

    private static func counts(_ counts: [String: Int]) -> [String] {
        sorted(counts).map { name, count in
            var line = ""
            line.append(padded: "\(count)", 9)
            return "\(line)  \(name.printable)"
        }
    }

    private static func milliseconds(_ microseconds: Int64) -> JSONValue {
        JSONValue(Double(microseconds) / 1000)
    }

    private static func text(_ microseconds: Int64) -> String {
        "\((Double(microseconds) / 1000).rounded(to: 3)) ms"
    }
}

extension Double {
    /// Returns the number with at most `digits` decimal places, without trailing zeros.
    func rounded(to digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let rounded = (self * scale).rounded() / scale
        return Int64(exactly: rounded).map { "\($0)" } ?? "\(rounded)"
    }
}

extension ConnectionStatistics {
    fileprivate var json: JSONValue {
        [
            "connection": JSONValue(handle.rawValue), "adapter": JSONValue(adapter),
            "peer": JSONValue(peer),
            "addressType": JSONValue(typeOf: peer), "role": JSONValue(role?.description),
            "begin": .string(begin.exactDescription), "end": .string(end.exactDescription),
            "sent": json(sent), "received": json(received), "mtu": JSONValue(isClassic ? nil : mtu),
            "transport": isClassic ? "bredr" : "le",
            "parameters": .array(
                parameters.map {
                    [
                        "interval": JSONValue(Double($0.interval) / 1000), "latency": JSONValue($0.latency),
                        "timeout": JSONValue($0.timeout),
                    ]
                }),
            "phy": phys.map { ["transmit": .string("\($0.transmit)"), "receive": .string("\($0.receive)")] }
                ?? .null,
            "dataLength": dataLengths.map {
                ["transmit": JSONValue($0.transmit), "receive": JSONValue($0.receive)]
            } ?? .null,
            "reason": JSONValue(reason?.rawValue), "reasonText": JSONValue(reason?.description),
        ]
    }

    private func json(_ traffic: Traffic) -> JSONValue {
        [
            "packets": JSONValue(traffic.packets), "valueOctets": JSONValue(traffic.valueOctets),
            "octetsPerSecond": JSONValue(rate(traffic).map { Int($0) }),
        ]
    }

    /// Returns the octets of values per second, or nil if the connection lasted less than a millisecond.
    private func rate(_ traffic: Traffic) -> Double? {
        seconds >= 0.001 ? Double(traffic.valueOctets) / seconds : nil
    }

    fileprivate var lines: [String] {
        var head = "0x\(handle.rawValue.hex)  \(peer?.description ?? "unknown peer")"
        if let role { head += "  as \(role)" }
        head += "  \(seconds.rounded(to: 3)) s  \(isClassic ? "BR/EDR" : "MTU \(mtu)")"
        if let phys { head += "  PHY \(phys.transmit)/\(phys.receive)" }
        if let dataLengths { head += "  data length \(dataLengths.transmit)/\(dataLengths.receive)" }
        var lines = [head]
        for set in parameters {
            lines.append(
                "    interval \((Double(set.interval) / 1000).rounded(to: 2)) ms, latency \(set.latency), "
                    + "timeout \(set.timeout) ms")
        }
        lines.append("    sent \(text(sent)); received \(text(received))")
        if let reason { lines.append("    ended: \(reason)") }
        return lines
    }

    private func text(_ traffic: Traffic) -> String {
        let rate = rate(traffic).map { ", \($0.rounded(to: 0)) octets/s" } ?? ""
        return "packets: \(traffic.packets), octets of values: \(traffic.valueOctets)\(rate)"
    }
}
