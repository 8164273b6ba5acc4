import ArgumentParser
import AssignedNumbers
import BLE
import BLECore
import HCI
import Recordings

/// The options that select packets. Of several values of one option, given with commas or by repeating it, a
/// packet must match one. It must match all of the different options.
struct FilterOptions: ParsableArguments {
    @Option(
        name: [.customShort("l"), .customLong("layer")],
        help: ArgumentHelp(
            "Only packets with this layer: hci, l2cap, signaling, att, smp, monitor, mgmt.",
            valueName: "layers"),
        completion: .list(["hci", "l2cap", "signaling", "att", "smp", "monitor", "mgmt"]))
    var layers: [String] = []

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "Only packets with a name like this: \"*Write*\", \"LE Set *\".", valueName: "glob"))
    var names: [String] = []

    @Option(
        name: .customLong("connection"),
        help: ArgumentHelp("Only data and events of this connection: 0x0040.", valueName: "handle"))
    var connections: [String] = []

    @Option(
        name: .customLong("address"),
        help: ArgumentHelp("Only what is from, to or about this device.", valueName: "address"))
    var addresses: [String] = []

    @Option(
        name: .customLong("handle"),
        help: ArgumentHelp("Only ATT about this attribute: 0x0012.", valueName: "handle"))
    var handles: [String] = []

    @Option(
        name: .customLong("uuid"),
        help: ArgumentHelp(
            "Only ATT about attributes of this type, characteristic or service.", valueName: "uuid"))
    var uuids: [String] = []

    @Option(
        name: .customLong("opcode"),
        help: ArgumentHelp(
            "Only messages with this number: a command's opcode, an event's code, an ATT opcode.",
            valueName: "number"))
    var opcodes: [String] = []

    @Flag(help: "Only what the host sent.")
    var sent = false

    @Flag(help: "Only what the host received.")
    var received = false

    @Option(help: ArgumentHelp("Only packets with these numbers: 12, 12-40, 12-.", valueName: "range"))
    var frames: String?

    @Option(
        help: ArgumentHelp(
            "Only packets from this time on: 2026-11-21T05:24:00Z, or 90s after the first.", valueName: "time"
        ))
    var since: String?

    @Option(help: ArgumentHelp("Only packets until this time.", valueName: "time"))
    var until: String?

    @Flag(
        help: """
            Only errors: malformed packets, error responses, statuses, failed pairings; not the end of a discovery \
            or of a canceled attempt to connect.
            """)
    var errors = false
}

extension FilterOptions {
    /// The names of the options that were given.
    var given: [String] {
        let lists = [
            ("--layer", layers), ("--name", names), ("--connection", connections), ("--address", addresses),
            ("--handle", handles), ("--uuid", uuids), ("--opcode", opcodes),
        ]
        let others = [
            ("--sent", sent), ("--received", received), ("--frames", frames != nil),
            ("--since", since != nil), ("--until", until != nil), ("--errors", errors),
        ]
        return lists.filter { !$0.1.isEmpty }.map(\.0) + others.filter(\.1).map(\.0)
    }

    /// Creates a filter from the options.
    func filter() throws(Failure) -> PacketFilter {
        var filter = PacketFilter()
        filter.layers = Set(
            try each(layers, of: "--layer") { text throws(BadInput) in
                // Advertising data are not a layer of a recorded packet, but fields of one.
                guard let layer = DecodedLayer.Layer(rawValue: text), layer != .adv else {
                    let all = DecodedLayer.Layer.allCases.filter { $0 != .adv }.map(\.rawValue)
                    throw BadInput(
                        "\(text.quoted) is not a layer\(all.suggestion(for: text))",
                        hint: "layers are \(all.joined(lastBy: "and"))")
                }
                return layer
            })
        filter.names = names.map { Glob($0) }
        filter.connections = Set(
            try each(connections, of: "--connection") { text throws(BadInput) in
                try UInt16(text: text, "a connection's handle")
            })
        filter.handles = Set(
            try each(handles, of: "--handle") { text throws(BadInput) in
                try UInt16(text: text, "a handle")
            })
        filter.opcodes = Set(
            try each(opcodes, of: "--opcode") { text throws(BadInput) in
                try UInt16(text: text, "an opcode")
            })
        filter.uuids = Set(
            try each(uuids, of: "--uuid") { text throws(BadInput) in
                try BluetoothUUID(text: text, kind: .characteristic, names: Names.uuid)
            })
        filter.addresses = try each(addresses, of: "--address") { text throws(BadInput) in
            guard let bits = DeviceAddress(text)?.value ?? DeviceAddress.bits(text) else {
                throw BadInput("\(text.quoted) is not an address", hint: "an address is AA:BB:CC:DD:EE:FF")
            }
            return bits
        }
        if sent != received { filter.direction = sent ? .hostToController : .controllerToHost }
        filter.frames = try reading("--frames", frames) { try Self.range($0) } ?? filter.frames
        filter.since = try reading("--since", since) { try PacketFilter.Moment(text: $0) }
        filter.until = try reading("--until", until) { try PacketFilter.Moment(text: $0) }
        switch (filter.since, filter.until) {
        case (.absolute(let first)?, .absolute(let last)?) where last < first,
            (.relative(let first)?, .relative(let last)?) where last < first:
            throw Failure(.usage, "--until", "is before --since")
        default: break
        }
        filter.isOfErrors = errors
        return filter
    }

    private func each<Value>(
        _ texts: [String], of option: String, _ value: (String) throws(BadInput) -> Value
    ) throws(Failure) -> [Value] {
        var values: [Value] = []
        for text in texts.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            do throws(BadInput) {
                values.append(try value(String(text)))
            } catch {
                throw Failure(option, error)
            }
        }
        return values
    }

    /// Parses `12`, `12-40`, `12-` or `-40`.
    private static func range(_ text: String) throws(BadInput) -> ClosedRange<Int> {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let ends = parts.map { Int.number($0) }
        let (first, last) = (ends[0] ?? 0, ends.count == 1 ? ends[0] ?? 0 : ends[1] ?? Int.max)
        let isEmpty = parts.allSatisfy(\.isEmpty)
        guard !isEmpty, zip(parts, ends).allSatisfy({ $0.isEmpty || $1 != nil }), first <= last else {
            throw BadInput("\(text.quoted) is not a range", hint: "a range is 12, 12-40, 12- or -40")
        }
        return first...last
    }
}

extension PacketFilter.Moment {
    /// Parses a date with a time, or a duration since the first packet.
    init(text: String) throws(BadInput) {
        if let timestamp = Timestamp(text) {
            self = .absolute(timestamp.milliseconds * 1000)
        } else if let duration = try? Duration(text: text) {
            self = .relative(duration.nanoseconds / 1000)
        } else {
            throw BadInput(
                "\(text.quoted) is not a time",
                hint: "a time is 2026-11-21T05:24:00Z, or a duration since the first packet, as in 90s")
        }
    }
}
