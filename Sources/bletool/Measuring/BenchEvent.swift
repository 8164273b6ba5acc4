import BLE
import BLECore

/// A result of `bench`: the throughput of a link, and the time of each operation.
struct BenchEvent: Event {
    enum Operation: String, Hashable, Sendable {
        /// Measured from a request to its response.
        case read, write
        /// Measured from a command until the link accepts it, because it has no response.
        case writeWithoutResponse
        /// Measured from one value to the next.
        case notification, indication

        fileprivate var meaning: String {
            switch self {
            case .read, .write: "from a request to its response, including ATT and both hosts"
            case .writeWithoutResponse:
                "until this host's link accepts a packet, which may not have arrived yet"
            case .notification, .indication: "between two values"
            }
        }
    }

    var operation: Operation
    var handle: AttributeHandle
    /// The type of the attribute, where it is known.
    var uuid: BluetoothUUID?
    /// The number of completed operations.
    var operations: Int
    /// The octets of all transferred values.
    var octets: Int
    /// The time from the start of the first operation to the end of the last.
    var elapsed: Duration
    /// The distribution of the operations' times.
    var profile: LatencyProfile
    /// The octets that the other end received, if it reports them.
    var arrived: Int?
    /// The number of values missing between the first and the last, if the values are numbered.
    var missing: Int?
    /// The parameters of the link.
    var parameters: BLE.LinkParameters

    private var seconds: Double { Double(elapsed.nanoseconds) / 1e9 }
    private func perSecond(_ count: Int) -> Double {
        seconds > 0 ? (Double(count) / seconds * 10).rounded() / 10 : 0
    }

    /// The text about the other end's octets and missing values.
    private var check: String {
        [arrived.map { ", \($0) arrived" }, missing.map { ", \($0) values missing" }].compactMap { $0 }
            .joined()
    }

    private var points: [(String, Duration?)] {
        [
            ("min", profile.minimum), ("median", profile.percentile(50)), ("p90", profile.percentile(90)),
            ("p99", profile.percentile(99)), ("max", profile.maximum),
        ]
    }

    var json: JSONValue {
        .object(
            [
                .init("event", "bench"), .init("operation", JSONValue(operation.rawValue)),
                .init("handle", JSONValue(handle)), .init("uuid", JSONValue(uuid)),
                .init("operations", JSONValue(operations)), .init("octets", JSONValue(octets)),
                .init("arrived", JSONValue(arrived)), .init("missing", JSONValue(missing)),
                .init("duration", JSONValue(milliseconds: elapsed)),
                .init("operationsPerSecond", JSONValue(perSecond(operations))),
                .init("octetsPerSecond", JSONValue(perSecond(octets))),
                .init("latency", .object(points.map { .init($0.0, JSONValue(milliseconds: $0.1)) })),
                .init(
                    "histogram",
                    .array(
                        profile.buckets.map {
                            ["upTo": JSONValue(milliseconds: $0.bound), "count": JSONValue($0.count)]
                        })),
                .init("link", .object(ServerEvent.LinkParameters(parameters).members)),
            ])
    }

    func lines(colored: Bool) -> [String] {
        let head = Style.bold(operation.rawValue, when: colored) + " \(uuid.map { "\($0)" } ?? "\(handle)")"
        let most = profile.buckets.map(\.count).max() ?? 0
        let bars = profile.buckets.map { bucket in
            let length = most == 0 ? 0 : (bucket.count * 40 + most - 1) / most
            return "  up to \(bucket.bound.milliseconds.filling(12))"
                + "\(bucket.count)".filling(8) + String(repeating: "#", count: length)
        }
        let times = points.compactMap { name, time in time.map { "\(name) \($0.milliseconds)" } }
        return [
            "\(head): \(operations) in \(elapsed.milliseconds), \(perSecond(operations)) per second, "
                + "\(octets) octets, \(perSecond(octets)) octets per second" + check,
            "  link: " + ServerEvent.LinkParameters(parameters).words.joined(separator: ", "),
            "  times (\(operation.meaning)):",
            "  " + times.joined(separator: "  "),
        ] + bars
    }
}

extension Duration {
    /// The text in milliseconds, to the microsecond: `1.25 ms`.
    fileprivate var milliseconds: String { "\(Double(nanoseconds / 1000) / 1000) ms" }
}
