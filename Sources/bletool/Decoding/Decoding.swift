import BLECore
import HCISocket
import Recordings

/// Decodes recordings for `decode`, in one pass and with memory that does not grow with the recordings.
struct Decoding: Sendable {
    enum Output: Sendable {
        /// One line for each packet.
        case lines
        /// All layers and fields of each packet.
        case tree
        /// Counts and times of all packets.
        case statistics
        /// A diagram of the packets, in this file.
        case diagram(String)
        /// A recording with the chosen packets.
        case recording(RecordingTarget)

        /// Whether all layers of each packet are shown.
        var isTree: Bool { if case .tree = self { true } else { false } }
    }

    let console: Console
    let filter: PacketFilter
    /// The number of packets to show, or nil for all.
    let limit: Int?
    let output: Output
    /// The kind of time that lines show.
    var time = LineTime.relative

    /// Decodes recordings of which each continues the previous one. Waits for data of a pipe until `timeout`
    /// has passed.
    func run(_ inputs: [RecordingInput], for timeout: Duration? = nil) throws(Failure) {
        let deadline = timeout.map { ContinuousClock.now.advanced(by: $0) }
        var pass = DecodingPass(self, names: inputs.map(\.name))
        for (index, input) in inputs.enumerated() {
            if index > 0, try !pass.endRecording() { break }
            var isOpen = true
            while isOpen {
                guard input.isReady(until: deadline) else {
                    try pass.finish(isWhole: false)
                    return try pass.end(late: timeout)
                }
                let chunk = try input.next()
                isOpen = try chunk.isEmpty ? false : pass.take(chunk)
            }
        }
        try pass.finish(isWhole: true)
    }

    /// Decodes a recording and what is appended to it, until `timeout` has passed, the task is cancelled or
    /// the output has no reader any more.
    func follow(_ input: RecordingInput, for timeout: Duration? = nil) async throws(Failure) {
        let growth = try input.growth()
        let late = Lock<Duration?>(nil)
        let result = await withTaskGroup(of: Result<Void, Failure>?.self) { group in
            group.addTask {
                do throws(Failure) {
                    var pass = DecodingPass(self, names: [input.name])
                    repeat {
                        var chunk = try input.next()
                        while !chunk.isEmpty {
                            guard try pass.take(chunk) else { return .success(()) }
                            chunk = try input.next()
                        }
                    } while await growth?.next() ?? false
                    // The last record can be incomplete at this point.
                    try pass.finish(isWhole: false)
                    try pass.end(late: late.withLock { $0 })
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await console.output.readerHasGone()
                return nil
            }
            group.addTask {
                await Interruption.wait(timeout)
                if !Task.isCancelled { late.withLock { $0 = timeout } }
                return nil
            }
            // A cancelled task still shows the packets that it has read.
            var result: Result<Void, Failure>?
            for await ended in group {
                group.cancelAll()
                result = result ?? ended
            }
            return result
        }
        try result?.get()
    }
}

/// The state of decoding between the chunks of a recording.
struct DecodingPass {
    private let decoding: Decoding
    /// The names of the current recording and of those that follow.
    private var names: ArraySlice<String>
    private let title: String
    private var reader = RecordingReader()
    private var dissector = Dissector()
    private var lines: PacketText
    private var objects: PacketJSON
    private var statistics = RecordingStatistics()
    private var diagram = LadderDiagram()
    private var copy: RecordingCopy?
    private var start: RecordingTime?
    /// The number of packets that were read, and of those that were shown.
    private var (packets, shown) = (0, 0)
    /// Whether no more packets are needed, because enough were shown or the output has no reader.
    private var isOver = false
    private var damage: (name: String, first: RecordingDamage, parts: Int, octets: Int)?
    private var hasRecordAfterDamage = false

    /// Creates a pass through recordings with these names, of which there is at least one.
    init(_ decoding: Decoding, names: [String]) {
        (self.decoding, self.names) = (decoding, names[...])
        title = names.joined(separator: ", ")
        lines = PacketText(isColored: decoding.console.isColored, time: decoding.time)
        objects = PacketJSON(showsLayers: decoding.output.isTree)
        if case .recording(let target) = decoding.output { copy = RecordingCopy(target) }
    }

    /// Adds the next octets and shows the complete packets. Returns false if no more octets are needed.
    mutating func take(_ chunk: [UInt8]) throws(Failure) -> Bool {
        reader.receive(chunk.span)
        isOver = try !drain()
        return !isOver
    }

    /// Ends a recording, so that the next one can follow. Known connections and attributes are kept for it.
    /// Returns false if no more octets are needed.
    mutating func endRecording() throws(Failure) -> Bool {
        try end()
        reader = RecordingReader()
        names.removeFirst()
        return !isOver
    }

    /// Shows the rest of a recording that has ended.
    private mutating func end() throws(Failure) {
        if !isOver {
            reader.finish()
            isOver = try !drain()
        }
        reportLeftOut()
    }

    private func reportLeftOut() {
        guard reader.leftOut > 0 else { return }
        let count =
            reader.leftOut == 1
            ? "1 packet is no HCI packet" : "\(reader.leftOut) packets are not HCI packets"
        decoding.console.note("\(name): \(count) and \(reader.leftOut == 1 ? "was" : "were") left out")
    }

    private var name: String { names.first ?? title }

    /// Shows the rest, and throws a failure if something was damaged. `isWhole` means that the recording has
    /// ended.
    mutating func finish(isWhole: Bool) throws(Failure) {
        if isWhole { try end() } else { reportLeftOut() }
        switch decoding.output {
        case .lines, .tree:
            if isWhole, shown == 0, damage == nil, decoding.console.output.error == nil {
                decoding.console.note(
                    packets == 0
                        ? "\(title): there are no HCI packets"
                        : "\(title): no packet of \(packets) matches the filter")
            }
        case .statistics:
            statistics.finish()
            decoding.console.show(StatisticsEvent(statistics: statistics))
        case .diagram(let path): try draw(path)
        case .recording:
            try copy?.finish(reader.datalink)
            for note in copy?.notes ?? [] { decoding.console.note(note) }
        }
        // A pcap file of such packets is refused at its start.
        if isWhole, packets == 0, damage == nil, reader.leftOut > 0 {
            throw Failure(
                .input, title, "there are no HCI packets, only others",
                hint: "tshark reads recordings of the air and of USB: tshark -r FILE")
        }
        if let damage {
            let parts = damage.parts == 1 ? "" : ", and \(damage.parts - 1) more"
            let place = damage.first.isCutOff && !hasRecordAfterDamage ? "before" : "around"
            throw Failure(
                .input, damage.name, "\(damage.first)\(parts)",
                hint: "\(damage.octets) octets could not be read; all packets \(place) them were")
        }
    }

    /// Throws a failure if the time limit ended the decoding before the requested number of packets was
    /// shown.
    func end(late timeout: Duration?) throws(Failure) {
        guard let timeout, let limit = decoding.limit, shown < limit else { return }
        throw Failure(.timeout, "decode", "\(shown) of \(limit) packets came in \(timeout.text)")
    }

    private func draw(_ path: String) throws(Failure) {
        let picture = diagram.svg(title: title)
        do throws(BadInput) {
            if path == "-" {
                decoding.console.output.text(picture)
            } else {
                try File.replace(path, with: Array(picture.utf8), mode: 0o644)
            }
        } catch {
            throw Failure(path, error, kind: .input)
        }
        let more = diagram.leftOut > 0 ? "; \(diagram.leftOut) more are left out; filters select packets" : ""
        let name = path == "-" ? "stdout" : path
        decoding.console.note("\(name): \(diagram.rows.count) packets drawn\(more)")
    }

    private var isFull: Bool { decoding.limit.map { shown >= $0 } ?? false }

    private mutating func drain() throws(Failure) -> Bool {
        var text = ""
        defer { if !text.isEmpty { decoding.console.output.text(text) } }
        while let item = try next() {
            switch item {
            case .damage(let gap):
                damage = (
                    damage?.name ?? name, damage?.first ?? gap, (damage?.parts ?? 0) + 1,
                    (damage?.octets ?? 0) + gap.skipped
                )
            case .record(let record):
                if damage != nil { hasRecordAfterDamage = true }
                let first = start ?? record.time
                start = first
                packets += 1
                let packet = dissector.dissect(record)
                let isChosen = decoding.filter.matches(packet, start: first)
                try copy?.add(record, packet, isChosen: isChosen, reader.datalink)
                guard isChosen else { continue }
                shown += 1
                show(packet, since: first, in: &text)
                if isFull { return false }
            }
        }
        if try copy?.flush() == false { return false }
        return decoding.console.output.error == nil
    }

    private mutating func show(
        _ packet: DecodedPacket, since start: RecordingTime, in text: inout String
    ) {
        switch decoding.output {
        case .statistics: statistics.add(packet)
        case .diagram: diagram.add(packet, since: start)
        case .lines where !decoding.console.isJSON: lines.appendLine(packet, since: start, to: &text)
        case .tree where !decoding.console.isJSON: lines.appendTree(packet, to: &text)
        case .lines, .tree: objects.appendLine(packet, to: &text)
        case .recording: break
        }
    }

    private mutating func next() throws(Failure) -> RecordingItem? {
        do throws(RecordingError) {
            return try reader.next()
        } catch {
            throw Failure(error, in: name)
        }
    }
}

extension Failure {
    /// Creates the failure for a file that is not a recording.
    init(_ error: RecordingError, in name: String) {
        self.init(.input, name, "\(error)")
        switch error {
        case .unsupportedLinkType(let type):
            if PcapLinkType.readByTshark.contains(type) { hint = "tshark reads it: tshark -r FILE" }
            return
        case .unknownFormat(let start): hint = Self.hint(start)
        default: return
        }
    }

    /// Returns how a file that begins so can be read.
    private static func hint(_ start: [UInt8]) -> String? {
        if start.starts(with: [0x50, 0x4b, 3, 4]) {
            return
                "it is a zip, as Android's bug reports are: unzip -p FILE '*btsnoop_hci.log' | bletool decode -"
        }
        if start.count >= 8, start[0] == 0, start[1] == 0, start[2...3] != [0, 0] {
            return "a recording of Apple's PacketLogger begins so: tshark -r FILE or btmon -r FILE reads it"
        }
        if start.count >= 8, start.allSatisfy({ (0x09...0x7e).contains($0) }) {
            return
                "it is text: if it is a bug report of Android, btsnooz.py of Android extracts the recording in it"
        }
        let programs: [(start: [UInt8], program: String)] = [
            ([0x1f, 0x8b], "gunzip -c"), ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "xz -dc"),
            ([0x28, 0xb5, 0x2f, 0xfd], "zstd -dc"), ([0x42, 0x5a, 0x68], "bunzip2 -c"),
        ]
        return programs.first { start.starts(with: $0.start) }.map {
            "it is compressed: \($0.program) FILE | bletool decode -"
        }
    }
}
