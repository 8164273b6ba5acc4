import CYAML

/// An event of libyaml, in the order of the document.
enum YAMLEvent: Hashable {
    /// A scalar; `isPlain` if it has no quotes and is no block.
    case scalar(String, isPlain: Bool, YAMLProperties)
    /// The start of a list, in block or flow style.
    case sequence(YAMLProperties)
    /// The start of a mapping, in block or flow style.
    case mapping(YAMLProperties)
    /// The end of the innermost list or mapping.
    case end
    /// The alias `*name`, without the asterisk.
    case alias(String)
    /// The start of a document. Its end is not an event.
    case document
    /// The end of the stream.
    case endOfStream
}

/// The anchor and the tag that can precede a node.
struct YAMLProperties: Hashable {
    /// The name in `&name`; nil without an anchor.
    var anchor: String?
    /// The tag in full, not its short form `!tag`; nil without a tag.
    var tag: String?
}

/// A reader of a document with libyaml, which only this file uses.
final class YAMLEventReader {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// Creates a reader of `text`, which must be UTF-8, or UTF-16 with a byte order mark.
    init(_ text: [UInt8]) throws(ConfigurationError) {
        // libyaml compares each tag directive with all before it.
        let directives = Self.linesWithDirectiveMark(text)
        guard directives <= Self.directiveLimit else {
            throw ConfigurationError(
                nil, "\(directives) lines begin with %, at most \(Self.directiveLimit) may")
        }
        parser = .allocate(capacity: 1)
        input = .allocate(capacity: text.count)
        _ = input.initialize(from: text)
        guard yaml_parser_initialize(parser) == 1 else {
            throw ConfigurationError(nil, "out of memory")
        }
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    /// Returns the number of lines that begin with %. Lines end with LF, CR, NEL, LS or PS. Other characters that have
    /// the last octet of one of these count as well, and in UTF-16 those that have any octet.
    private static func linesWithDirectiveMark(_ text: [UInt8]) -> Int {
        let isUTF16 = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
        let ends: Set<UInt8> = [0x0A, 0x0D, 0x85, 0xA8, 0xA9]
        let all = isUTF16 ? ends.union([0x28, 0x29, 0x20]) : ends
        var (count, isStart) = (0, true)
        for octet in text where octet != 0 {
            if isStart, octet == UInt8(ascii: "%") { count += 1 }
            isStart = all.contains(octet)
        }
        return count
    }

    /// The maximum number of lines that can be directives.
    private static let directiveLimit = 100

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// Returns the next event that matters to a tree, and its position.
    func next() throws(ConfigurationError) -> (event: YAMLEvent, position: SourcePosition) {
        while true {
            var raw = yaml_event_t()
            guard yaml_parser_parse(parser, &raw) == 1 else { throw problem }
            defer { yaml_event_delete(&raw) }
            if let event = Self.event(raw) { return (event, SourcePosition(raw.start_mark)) }
        }
    }

    private static func event(_ raw: yaml_event_t) -> YAMLEvent? {
        switch raw.type {
        case YAML_SCALAR_EVENT:
            let scalar = raw.data.scalar
            let text = String(
                decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            return .scalar(
                text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE,
                YAMLProperties(scalar.anchor, scalar.tag))
        case YAML_SEQUENCE_START_EVENT:
            return .sequence(YAMLProperties(raw.data.sequence_start.anchor, raw.data.sequence_start.tag))
        case YAML_MAPPING_START_EVENT:
            return .mapping(YAMLProperties(raw.data.mapping_start.anchor, raw.data.mapping_start.tag))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .end
        case YAML_ALIAS_EVENT: return .alias(raw.data.alias.anchor.map { String(cString: $0) } ?? "")
        case YAML_DOCUMENT_START_EVENT: return .document
        case YAML_STREAM_END_EVENT: return .endOfStream
        default: return nil
        }
    }

    /// The error that stopped libyaml, with libyaml's description.
    private var problem: ConfigurationError {
        let state = parser.pointee
        let reason = state.problem.map { String(cString: $0) } ?? "out of memory"
        guard state.error != YAML_READER_ERROR else {
            return ConfigurationError(position(ofOctet: state.problem_offset), "this is not text: \(reason)")
        }
        let context = state.context.map { context in
            " \(String(cString: context)) that begins at line \(state.context_mark.line + 1)"
        }
        let isAboutTab =
            reason == "found character that cannot start any token"
            && isIndentedWithTabs(line: Int(state.problem_mark.line))
        let tabs = isAboutTab ? "; tabs do not indent" : ""
        return ConfigurationError(
            SourcePosition(state.problem_mark), "YAML: \(reason)\(context ?? "")\(tabs)")
    }

    /// Returns whether there is a tab in the white space at the start of a line, which counts from 0.
    private func isIndentedWithTabs(line: Int) -> Bool {
        input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropFirst(line).first?
            .prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.contains(UInt8(ascii: "\t"))
            ?? false
    }

    private func position(ofOctet offset: Int) -> SourcePosition {
        let before = input.prefix(offset)
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
        return SourcePosition(line: line, column: column)
    }
}

extension YAMLProperties {
    fileprivate init(_ anchor: UnsafeMutablePointer<UInt8>?, _ tag: UnsafeMutablePointer<UInt8>?) {
        self.init(anchor: anchor.map { String(cString: $0) }, tag: tag.map { String(cString: $0) })
    }
}

extension SourcePosition {
    fileprivate init(_ mark: yaml_mark_t) { self.init(line: mark.line + 1, column: mark.column + 1) }
}
