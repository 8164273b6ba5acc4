import ArgumentParser
import BLECore
import Recordings

struct DecodeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Decode the packets of a recording, or one packet.",
        discussion: """
            Reads btsnoop (as Android, btmon -w and --capture write it), pcap and pcapng; - is stdin. \
            Damaged parts are skipped and reported, and the exit status is then 1.

            Each line shows the packet's number, the seconds since the first packet, the direction (→ is to \
            the controller), the connection, protocol, name and fields, and for a response the time since \
            its request. Attributes are named as discovered in the same recording.

            Examples: bletool decode phone.btsnoop --layer att --errors; bletool decode rotated-*.btsnoop \
            --stats; bletool decode all.btsnoop --address AA:BB:CC:DD:EE:FF --write one.btsnoop; bletool \
            decode --hex 0201060303aafe --as adv
            """)

    /// The kind of data that `--hex` contains.
    enum Form: String, CaseIterable, ExpressibleByArgument {
        case adv, att, hci, smp, l2cap
    }

    @Argument(
        help: ArgumentHelp(
            "The recording; - is stdin. Several, in the order of their packets, are read as one.",
            valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Option(help: ArgumentHelp("Decode these octets instead of a file.", valueName: "hex"))
    var hex: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "What the octets are: adv, att, hci (with the packet type first), smp or l2cap.",
            valueName: "form"))
    var form: Form?

    @Flag(
        name: [.customShort("v"), .customLong("tree"), .customLong("verbose")],
        help: "Show all layers, fields and octets; with --json, layers.")
    var tree = false

    @Flag(
        name: [.customShort("f"), .customLong("follow")],
        help: "Keep reading while the file grows, until --timeout or Ctrl-C.")
    var follow = false

    @Flag(
        help: """
            Show a summary instead of packets: names, latencies, throughput, connection parameters, errors.
            """)
    var stats = false

    @Option(
        help: ArgumentHelp(
            "Draw a ladder diagram of the session as SVG instead of showing the packets; - is stdout.",
            valueName: "picture"), completion: .file())
    var svg: String?

    @Option(
        help: ArgumentHelp(
            "Write the packets to a btsnoop recording instead of showing them; replaces only an older recording; - is stdout.",
            valueName: "recording"), completion: .file())
    var write: String?

    @Option(
        help: ArgumentHelp(
            "The time of lines: relative, seconds since the first packet; absolute, date and time in UTC.",
            valueName: "kind"))
    var time: LineTime?

    @Option(
        name: [.customShort("n"), .customLong("count")], parsing: .unconditional,
        help: ArgumentHelp("End after this many packets.", valueName: "count"))
    var count: Int?

    @OptionGroup(title: "Which packets") var which: FilterOptions
    @OptionGroup var global: TimedOptions

    var output: OutputOptions { global.output }

    func perform(_ console: Console) async throws(Failure) {
        try global.radio.refuse(for: "decode")
        let timeout = try global.time.limit()
        try refuseIgnored(console)
        if let count, count < 1 { throw Failure(.usage, "--count", "must be at least 1") }
        if let hex {
            guard files.isEmpty else { throw Failure(.usage, "--hex", "a file is given, too") }
            return try explain(hex, console)
        }
        if form != nil { throw Failure(.usage, "--as", "needs --hex: the format of a file is detected") }
        guard !files.isEmpty else {
            throw Failure(
                .usage, "decode", "nothing is given to decode",
                hint: "decode FILE, decode - for stdin, or decode --hex HEX --as adv|att|hci|smp|l2cap")
        }
        if follow, files.count > 1 { throw Failure(.usage, "--follow", "follows one file") }
        var inputs: [RecordingInput] = []
        for file in files { inputs.append(try RecordingInput(file)) }
        let decoding = Decoding(
            console: console, filter: try which.filter(), limit: count, output: try form(of: inputs),
            time: time ?? .relative)
        guard follow, let input = inputs.first, input.canGrow else {
            return try decoding.run(inputs, for: timeout)
        }
        try await Interruption.result { () async throws(Failure) in
            try await decoding.follow(input, for: timeout)
        }.get()
    }

    /// Returns the output that the options select.
    private func form(of inputs: [RecordingInput]) throws(Failure) -> Decoding.Output {
        if let write {
            if let input = inputs.first(where: { $0.isFile(at: write) }) {
                throw Failure(.usage, "--write", "\(input.name.quoted) is the recording that is read")
            }
            return .recording(try RecordingTarget(write))
        }
        if let svg, svg != "-", File.hasContent(svg, otherThan: Array("<svg".utf8)) {
            throw Failure(
                .input, "--svg \(svg)", "the file exists and is no picture of decode",
                hint: "only a picture is replaced: name another file, or remove this one")
        }
        return svg.map { .diagram($0) } ?? (stats ? .statistics : tree ? .tree : .lines)
    }

    /// Rejects options that would be ignored, because packets are shown in only one form.
    private func refuseIgnored(_ console: Console) throws(Failure) {
        let forms = [
            ("--hex", hex != nil), ("--write", write != nil), ("--svg", svg != nil), ("--stats", stats),
            ("--tree", tree && hex == nil),
        ].filter(\.1).map(\.0)
        if let form = forms.first, forms.count > 1 { throw .meaningless(forms[1], to: form) }
        if time != nil, let form = forms.first ?? (console.isJSON ? "--json" : nil) {
            throw .meaningless("--time", to: form)
        }
        if console.isJSON, write == "-" { throw Failure(.usage, "--json", "stdout is the recording") }
        if console.isJSON, svg == "-" { throw Failure(.usage, "--json", "stdout is the picture") }
        guard hex != nil else { return }
        let others = [("--follow", follow), ("--count", count != nil)].filter(\.1).map(\.0)
        if let option = (others + which.given).first { throw .meaningless(option, to: "--hex") }
    }

    /// Shows one packet. A malformed packet is shown as well, and then reported as a failure.
    private func explain(_ hex: String, _ console: Console) throws(Failure) {
        guard let form else {
            throw Failure(
                .usage, "--hex", "--as is missing",
                hint: "--as adv, att, hci, smp or l2cap")
        }
        let octets = try reading("--hex") { try [UInt8](hexText: hex.filter { !" :-".contains($0) }) }
        let layers = form.layers(octets)
        var text = ""
        if console.isJSON {
            text = PacketJSON.object(layers).description
        } else {
            PacketText(isColored: console.isColored).appendLayers(layers, to: &text)
            text.removeLast()
        }
        console.output.line(text)
        if let problem = layers.compactMap(\.problem).first {
            throw Failure(.input, "--hex", problem, isShown: true)
        }
    }
}

extension DecodeCommand.Form {
    /// Decodes the layers of octets that have this form.
    func layers(_ octets: [UInt8]) -> [DecodedLayer] {
        switch self {
        case .adv: [.advertising(octets)]
        case .att: [.att(octets)]
        case .smp: [.smp(octets)]
        case .l2cap: DecodedLayer.l2cap(octets)
        case .hci:
            Dissector.layers(octets)
        }
    }
}
