/// The program that receives the values that centrals write.
enum WriteConfiguration: Hashable, Sendable {
    /// A program that runs for each value, which is its standard input.
    case exec(Program)
    /// A program that runs as long as the server, and reads each value as a line in this format.
    case lines(Program, ValueFormat)
}

extension WriteConfiguration {
    private enum Key: String, CaseIterable { case exec, lines, format }

    /// Reads the mapping under `write:`.
    init(_ node: YAMLNode, _ context: ConfigurationContext) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, "write")
        switch (fields[.exec], fields[.lines]) {
        case (let exec?, nil):
            if fields[.format] != nil {
                throw ConfigurationError(
                    fields.position(of: .format), "exec takes no format: its input is the value",
                    hint: "lines takes one")
            }
            self = .exec(try Program(exec, context))
        case (nil, let lines?):
            // The default is hex, because a value can contain any octets, including line ends.
            self = .lines(try Program(lines, context), try fields[.format]?.format() ?? .hex)
        default:
            throw ConfigurationError(node.position, "write needs either exec or lines")
        }
    }
}
