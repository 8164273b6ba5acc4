import BLECore

/// The source of the values that subscribers receive.
enum NotifyConfiguration: Hashable, Sendable {
    /// One value of the source at each interval.
    case every(Duration, Source)
    /// Each line that a program prints. The program runs as long as the server, and the format is that of the
    /// values in the lines.
    case lines(Program, ValueFormat)
    /// The contents of a file, whenever they have changed. Without a format, the value is the file's octets.
    case file(String, ValueFormat?)

    /// The source of values that are sent at an interval.
    enum Source: Hashable, Sendable {
        /// The output of a program, which runs once in each interval.
        case command(ValueProgram)
        /// A number of this many octets that counts up from 0.
        case counter(octets: Int)
    }
}

extension NotifyConfiguration {
    /// Returns whether the source can provide a value with this number of octets. In a format of numbers there
    /// can be several.
    func canProvide(octets: Int) -> Bool {
        switch self {
        case .every(_, .counter(let size)): octets == size
        case .every(_, .command(let program)): program.format.canEncode(octets)
        case .lines(_, let format): Optional(format).canEncode(octets)
        case .file(_, let format): format.canEncode(octets)
        }
    }

    private enum Key: String, CaseIterable { case every, exec, counter, lines, file, format }
    private enum Counter: String, CaseIterable { case u8, u16, u32 }

    /// Reads the mapping under `notify:`.
    init(_ node: YAMLNode, _ context: ConfigurationContext) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, "notify")
        let given = [Key.exec, .counter, .lines, .file].filter { fields[$0] != nil }
        guard given.count == 1, let source = given.first else {
            throw ConfigurationError(node.position, "notify needs one of exec, counter, lines and file")
        }
        if source == .counter, let format = fields[.format] {
            throw ConfigurationError(
                format.position, "counter takes no format", hint: "exec, lines and file take one")
        }
        if source == .lines || source == .file, let every = fields[.every] {
            throw ConfigurationError(
                every.position, "\(source.rawValue) takes no every: it sends each value when it has one",
                hint: "leave out every")
        }
        switch (fields[.exec], fields[.counter], fields[.lines], fields[.file]) {
        case (let exec?, _, _, _):
            let program = ValueProgram(
                program: try Program(exec, context), format: try fields[.format]?.format())
            self = .every(try Self.interval(fields), .command(program))
        case (_, let counter?, _, _):
            let octets =
                switch try counter.word(Counter.self) {
                case .u8: 1
                case .u16: 2
                case .u32: 4
                }
            self = .every(try Self.interval(fields), .counter(octets: octets))
        case (_, _, let lines?, _):
            self = .lines(try Program(lines, context), try fields[.format]?.format() ?? .utf8)
        default:
            let file = try fields.required(.file)
            let path = context.path(try file.text("a path"))
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            guard context.isFolder(folder.isEmpty ? "/" : folder) else {
                throw ConfigurationError(file.position, "there is no folder \(folder.quoted)")
            }
            self = .file(path, try fields[.format]?.format())
        }
    }

    private static func interval(_ fields: YAMLFields<Key>) throws(ConfigurationError) -> Duration {
        let every = try fields.required(.every)
        let interval = try every.duration()
        guard interval >= .milliseconds(1), interval <= .seconds(86_400) else {
            throw ConfigurationError(every.position, "every must be 1ms to 24h, not \(interval.text)")
        }
        return interval
    }
}

extension ValueFormat? {
    fileprivate func canEncode(_ octets: Int) -> Bool {
        guard let number = self?.number else { return true }
        return octets > 0 && octets.isMultiple(of: number.octets)
    }
}

extension YAMLNode {
    /// Returns the format that the node names, which is that of the values in lines.
    func format() throws(ConfigurationError) -> ValueFormat {
        let text = try text("a format")
        guard let format = StoredValue.formats.first(where: { $0.rawValue == text }) else {
            let names = StoredValue.formats.map(\.rawValue)
            throw ConfigurationError(
                position, "\(text.quoted) is not a format\(names.suggestion(for: text))",
                hint: "formats are \(names.joined(lastBy: "and"))")
        }
        return format
    }
}
