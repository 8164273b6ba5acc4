import AssignedNumbers
import BLECore
import Recordings

/// Packets as JSON objects, one per line.
struct PacketJSON {
    /// Whether all layers are shown in addition to the packet's top layer.
    let showsLayers: Bool
    private var clock = RecordingClock()

    init(showsLayers: Bool) { self.showsLayers = showsLayers }

    /// Adds the object and a line end.
    mutating func appendLine(_ packet: DecodedPacket, to text: inout String) {
        let top = packet.top
        var members = [
            JSONValue.Member("frame", JSONValue(packet.frame)),
            .init("time", .string(clock.text(packet.time))),
            .init("direction", JSONValue(packet.direction?.text)),
        ]
        members += Self.members(top)
        let problems = packet.layers.compactMap(\.problem)
        members.append(.init("problem", JSONValue(problems.isEmpty ? nil : problems.joined(separator: "; "))))
        members.append(.init("adapter", JSONValue(packet.adapter)))
        if packet.missing > 0 { members.append(.init("missing", JSONValue(packet.missing))) }
        if let connection = packet.connection {
            members.append(.init("connection", JSONValue(connection.rawValue)))
        }
        if let peer = packet.peer {
            members.append(.init("peer", JSONValue(peer)))
            members.append(.init("addressType", JSONValue(typeOf: peer)))
        }
        if let attribute = packet.attribute { members.append(.init("attribute", JSONValue(attribute))) }
        if let request = packet.request {
            members.append(.init("request", JSONValue(request.frame)))
            members.append(.init("latency", JSONValue(Double(request.latency) / 1000)))
        }
        if showsLayers {
            let layers = packet.layers.map { layer in
                JSONValue.object(
                    Self.members(layer) + [.init("problem", JSONValue(layer.problem))])
            }
            members.append(.init("layers", .array(layers)))
        }
        text += JSONValue.object(members).description
        text += "\n"
    }

    /// Returns the object for octets that are not from a recording: the first layer and, if there are
    /// several, all of them in `layers`.
    static func object(_ layers: [DecodedLayer]) -> JSONValue {
        let problems = layers.compactMap(\.problem)
        var members: [JSONValue.Member] = [
            .init("frame", nil), .init("time", nil), .init("direction", nil),
        ]
        members += layers.first.map { Self.members($0) } ?? []
        members.append(.init("problem", JSONValue(problems.first)))
        if layers.count > 1 {
            let inner = layers.map {
                JSONValue.object(Self.members($0) + [.init("problem", JSONValue($0.problem))])
            }
            members.append(.init("layers", .array(inner)))
        }
        return .object(members)
    }

    /// Returns the JSON members that describe a layer.
    static func members(_ layer: DecodedLayer) -> [JSONValue.Member] {
        [
            .init("layer", .string(layer.layer.rawValue)), .init("name", .string(layer.name)),
            .init("fields", JSONValue(.fields(layer.fields))), .init("bytes", JSONValue(hex: layer.bytes)),
        ]
    }
}

extension JSONValue {
    /// Converts a field's value to JSON.
    init(_ value: FieldValue) {
        switch value {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number(let number): self = .number(String(number))
        case .text(let text): self = .string(text)
        case .list(let values): self = .array(values.map { JSONValue($0) })
        case .fields(let fields):
            self = .object(fields.all.map { Member($0.name, JSONValue($0.value)) })
        case .described(let value, _): self = JSONValue(value)
        }
    }

    fileprivate init(_ attribute: DecodedAttribute) {
        self = [
            "handle": JSONValue(attribute.handle), "uuid": JSONValue(attribute.uuid),
            "name": JSONValue(attribute.uuid.flatMap(Names.attribute)),
            "characteristic": JSONValue(attribute.characteristic),
            "service": JSONValue(attribute.service),
        ]
    }
}

/// Formats times. The part up to the seconds is computed only once for successive times in the same second.
struct RecordingClock {
    private var second: Int64?
    private var prefix = ""

    /// Returns the time in RFC 3339 format, in UTC with microseconds.
    mutating func text(_ time: RecordingTime) -> String {
        var (whole, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        if rest < 0 { (whole, rest) = (whole - 1, rest + 1_000_000) }
        if second != whole {
            second = whole
            // The text ends with three digits and a Z.
            prefix = String(RecordingTime(microseconds: whole &* 1_000_000).description.dropLast(4))
        }
        return prefix + String(String(rest + 1_000_000).dropFirst()) + "Z"
    }
}

extension RecordingTime {
    /// The time in RFC 3339 format, in UTC with microseconds.
    var exactDescription: String {
        var clock = RecordingClock()
        return clock.text(self)
    }
}
