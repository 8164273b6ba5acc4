import BLECore

extension StoredValue {
    private enum Key: String, CaseIterable { case max, fixed }

    /// Reads the value and the length of an attribute.
    init(
        value: YAMLNode?, length: YAMLNode?, _ context: ConfigurationContext
    ) throws(ConfigurationError) {
        if let value { octets = try Self.octets(value, context) }
        guard let length else { return }
        let fields = try YAMLFields<Key>(length, "length")
        isFixed = try fields[.fixed]?.bool() ?? false
        let given = try fields[.max]?.integer("the length", in: 1...Self.limit)
        if isFixed, given == nil, value == nil {
            throw ConfigurationError(length.position, "a fixed length needs max or a value")
        }
        maximum = given ?? (isFixed ? octets.count : Self.limit)
        guard octets.count <= maximum else {
            throw ConfigurationError(
                value?.position ?? length.position,
                "the value has \(octets.count) octets, more than its max of \(maximum)")
        }
        if isFixed, octets.count < maximum {
            guard value == nil else {
                throw ConfigurationError(
                    value?.position,
                    "the value has length \(octets.count), which is fixed at \(maximum)")
            }
            octets = [UInt8](repeating: 0, count: maximum)
        }
    }

    /// Reads the octets of `value:`.
    private static func octets(
        _ node: YAMLNode, _ context: ConfigurationContext
    ) throws(ConfigurationError) -> [UInt8] {
        let octets: [UInt8]
        switch node.content {
        case .scalar(let text, let isPlain):
            let looksOtherwise =
                DecimalNumber(text) != nil || Int128.number(text) != nil || ["true", "false"].contains(text)
            guard !isPlain || !looksOtherwise else {
                throw ConfigurationError(
                    node.position, "is \(text) a text or a number?",
                    hint: "a text: \"\(text)\"; a number: {u8: \(text)}; octets: {hex: \"\(text)\"}")
            }
            octets = Array(text.utf8)
        case .mapping(let entries):
            guard let entry = entries.first, entries.count == 1 else {
                throw ConfigurationError(
                    node.position, "a value has one key, its form: \(forms.joined(lastBy: "or"))")
            }
            octets = try Self.octets(entry, context)
        case .sequence: throw node.isNot("a text, or a mapping such as {u8: 100}")
        }
        guard octets.count <= limit else {
            throw ConfigurationError(
                node.position, "the value has \(octets.count) octets; no value has more than \(limit)")
        }
        return octets
    }

    /// The formats of values in a configuration.
    static let formats: [ValueFormat] = [
        .hex, .utf8, .u8, .u16, .u32, .i8, .i16, .i32, .f32, .sfloat, .float,
    ]
    private static let forms = formats.map(\.rawValue) + ["file"]

    /// Returns the octets of an entry such as `{u8: 100}`.
    private static func octets(
        _ entry: YAMLNode.Entry, _ context: ConfigurationContext
    ) throws(ConfigurationError) -> [UInt8] {
        let node = entry.value
        if node.isNull { throw ConfigurationError(entry.position, "\(entry.key.quoted) has no value") }
        if entry.key == "file" {
            let path = try node.text("a path")
            return try node.located { try context.contents(path, limit) }
        }
        guard let format = formats.first(where: { $0.rawValue == entry.key }) else {
            throw ConfigurationError(
                entry.position,
                "\(entry.key.quoted) is no form of a value\(forms.suggestion(for: entry.key))",
                hint: "forms are \(forms.joined(lastBy: "and"))")
        }
        var octets: [UInt8] = []
        let isList = if case .sequence = node.content { format.number != nil } else { false }
        for item in isList ? try node.list(of: "numbers") : [node] {
            let text = try item.text(format.number == nil ? "text" : "a number")
            octets += try item.located { try format.octets(text) }
        }
        return octets
    }
}
