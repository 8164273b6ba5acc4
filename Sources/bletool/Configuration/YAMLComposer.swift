/// Builds the tree of a YAML file. The file can come from an untrusted source, so everything is limited: the
/// nodes of an alias count each time that it is used, and a mapping must not contain a key twice.
struct YAMLComposer {
    /// The maximum size of a file in octets.
    static let fileLimit = 1 << 20
    /// The maximum number of nodes in a tree, with aliases expanded.
    static let nodeLimit = 100_000
    /// The maximum number of levels in a tree, with aliases expanded.
    static let depthLimit = 32

    private let events: YAMLEventReader
    private var anchors: [String: Composed] = [:]
    private var count = 0

    /// A node, with the numbers of nodes and of levels in its subtree.
    private struct Composed {
        var node: YAMLNode
        var count: Int
        var height: Int
    }

    /// Returns the tree of the only document in `text`.
    static func tree(_ text: [UInt8]) throws(ConfigurationError) -> YAMLNode {
        guard text.count <= fileLimit else {
            throw ConfigurationError(nil, "the file has \(text.count) octets; at most \(fileLimit) are read")
        }
        var composer = YAMLComposer(events: try YAMLEventReader(text))
        let (first, start) = try composer.events.next()
        guard first == .document else { throw ConfigurationError(start, "the file is empty") }
        let (event, position) = try composer.events.next()
        let root = try composer.compose(event, at: position, depth: 1).node
        let (end, after) = try composer.events.next()
        guard end == .endOfStream else {
            throw ConfigurationError(after, "a second document begins here; a file has only one")
        }
        return root
    }

    private mutating func compose(
        _ event: YAMLEvent, at position: SourcePosition, depth: Int
    ) throws(ConfigurationError) -> Composed {
        if case .alias(let name) = event { return try follow(name, at: position, depth: depth) }
        let before = count
        try add(1, at: position)
        guard depth <= Self.depthLimit else { throw tooDeep(position) }
        var height = 1
        let content: YAMLNode.Content
        let properties: YAMLProperties
        switch event {
        case .scalar(let text, let isPlain, let given):
            content = .scalar(text, isPlain: isPlain && given.tag == nil)
            properties = given
        case .sequence(let given):
            var items: [YAMLNode] = []
            while case let (next, place) = try events.next(), next != .end {
                let item = try compose(next, at: place, depth: depth + 1)
                items.append(item.node)
                height = max(height, item.height + 1)
            }
            content = .sequence(items)
            properties = given
        case .mapping(let given):
            let (entries, tallest) = try entries(depth: depth)
            content = .mapping(entries)
            height = tallest + 1
            properties = given
        case .alias, .end, .document, .endOfStream:
            throw ConfigurationError(position, "YAML: a value is missing")
        }
        try check(properties.tag, of: content, at: position)
        let composed = Composed(
            node: YAMLNode(position: position, content: content), count: count - before, height: height)
        if let anchor = properties.anchor { anchors[anchor] = composed }
        return composed
    }

    private mutating func entries(
        depth: Int
    ) throws(ConfigurationError) -> (entries: [YAMLNode.Entry], height: Int) {
        var entries: [YAMLNode.Entry] = []
        var lines: [String: Int] = [:]
        var height = 0
        while case let (event, position) = try events.next(), event != .end {
            guard case .scalar(let key, _) = try compose(event, at: position, depth: depth + 1).node.content
            else {
                throw ConfigurationError(position, "expected a key, not a list or a mapping")
            }
            if let line = lines[key] {
                throw ConfigurationError(position, "the key \(key.quoted) is already given, at line \(line)")
            }
            lines[key] = position.line
            let (next, place) = try events.next()
            let value = try compose(next, at: place, depth: depth + 1)
            entries.append(YAMLNode.Entry(key: key, position: position, value: value.node))
            height = max(height, value.height)
        }
        return (entries, height)
    }

    /// Returns the node that an alias refers to. An anchor is known only after the end of its node, so no
    /// node can contain itself.
    private mutating func follow(
        _ name: String, at position: SourcePosition, depth: Int
    ) throws(ConfigurationError) -> Composed {
        guard let target = anchors[name] else {
            throw ConfigurationError(position, "no complete node above has the anchor \("&\(name)".quoted)")
        }
        try add(target.count, at: position)
        guard depth + target.height - 1 <= Self.depthLimit else { throw tooDeep(position) }
        return target
    }

    private mutating func add(_ more: Int, at position: SourcePosition) throws(ConfigurationError) {
        count += more
        guard count <= Self.nodeLimit else {
            throw ConfigurationError(position, "more than \(Self.nodeLimit) nodes, with aliases expanded")
        }
    }

    private func tooDeep(_ position: SourcePosition) -> ConfigurationError {
        ConfigurationError(position, "more than \(Self.depthLimit) levels")
    }

    /// Accepts only the tags `!!str`, `!!seq` and `!!map` on nodes of that kind, where they change nothing.
    private func check(
        _ tag: String?, of content: YAMLNode.Content, at position: SourcePosition
    ) throws(ConfigurationError) {
        let expected =
            switch content {
            case .scalar: "str"
            case .sequence: "seq"
            case .mapping: "map"
            }
        guard let tag, tag != "!", tag != "tag:yaml.org,2002:\(expected)" else { return }
        throw ConfigurationError(position, "the tag \(tag.quoted) is not supported", hint: "leave it out")
    }
}
