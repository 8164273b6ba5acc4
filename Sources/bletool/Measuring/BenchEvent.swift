import BLE
import BLECore

/// `bench`: what a link carried, and how long each operation took.
struct BenchEvent: Event {
    enum Operation: String, Hashable, Sendable {
        /// From a request to its answer.
        case read, write
        /// From a command to when the link took it: it has no response.
        case writeWithoutResponse
        /// From one value to the next.
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
    /// What they carried, in octets of values.
    var octets: Int
    /// From the first to the end of the last.
    var elapsed: Duration
    /// The distribution of the operations' times.
    var profile: LatencyProfile
    /// The octets that the other end has, where it says so.
    var arrived: Int?
    /// How many values were left out between the first and the last, where they have numbers.
    var missing: Int?
    /// The link that they were on.
    var parameters: BLE.LinkParameters

    private var seconds: Double { Double(elapsed.nanoseconds) / 1e9 }
    private func perSecond(_ count: Int) -> Double {
        seconds > 0 ? (Double(count) / seconds * 10).rounded() / 10 : 0
    }

    /// What the other end says of it.
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
    /// In milliseconds, to the microsecond: `1.25 ms`.
    fileprivate var milliseconds: String { "\(Double(nanoseconds / 1000) / 1000) ms" }
}
