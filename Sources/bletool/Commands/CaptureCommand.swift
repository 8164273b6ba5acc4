import ArgumentParser
import BLE
import BLECore
import HCI
import HCISocket
import Logging
import Recordings

struct CaptureCommand: ToolCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "capture", abstract: "Record packets in a btsnoop file.",
        discussion: """
            Without --adapter, records the packets of all programs on all kernel adapters, as btmon does; \
            with a kernel adapter, those on that adapter. Any other adapter is opened and scans, passively \
            without --active, so that the advertisements it receives are recorded.

            The file can be read while it is written: bletool decode --follow FILE; or bletool capture - | \
            bletool decode -. Ctrl-C ends the recording and leaves a complete file. Wireshark and btmon -r \
            can read it, too; btmon 5.66 crashes at some ATT packets. An existing recording is replaced, \
            unless another process records into it. Any other file is not.
            """)

    @Argument(
        help: ArgumentHelp("The recording to make; - is stdout.", valueName: "file"), completion: .file())
    var file: String

    @Option(
        name: [.customShort("n"), .customLong("count")], parsing: .unconditional,
        help: ArgumentHelp("End after this many records.", valueName: "count"))
    var count: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @Option(
        help: ArgumentHelp(
            "Start a new file after this many octets: 500k, 10M. The files are numbered.",
            valueName: "size"))
    var rotateSize: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Start a new file after this time.", valueName: "duration"))
    var rotateTime: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Keep only this many of the newest files.", valueName: "count"))
    var keep: Int?

    @Flag(help: "Scan actively. Not for kernel adapters: capture does not scan on them.")
    var active = false

    @OptionGroup var global: GlobalOptions

    var output: OutputOptions { global.output }
    var usesKernelAdapters: Bool { global.radio.mayBeKernel }

    func perform(_ console: Console) async throws(Failure) {
        if global.radio.capture != nil { throw .meaningless("--capture", to: "capture") }
        if file == "-", console.isJSON { throw Failure(.usage, "--json", "stdout is the recording") }
        if let count, count < 1 { throw Failure(.usage, "--count", "must be at least 1") }
        let limit = try captureLimit()
        let source = try Source(global.radio.adapter())
        if active, source.isKernel {
            throw Failure(
                .usage, "--active", "does not apply to kernel adapters: capture does not scan on them")
        }
        let rotation = try rotation()
        try await Interruption.result { () throws(Failure) in
            switch source {
            case .monitor(let adapter):
                try await monitor(adapter, rotation, limit, console)
            case .radio(let adapter): try await radio(adapter, rotation, limit, console)
            }
        }.get()
    }

    private func captureLimit() throws(Failure) -> Duration? {
        if let limit = try bletool.duration(duration, of: "--duration") { return limit }
        return try global.time.limit()
    }

    private enum Source {
        /// All kernel adapters, or only the given one.
        case monitor(AdapterSpecification.KernelAdapter?)
        /// An adapter that this process opens.
        case radio(AdapterSpecification)

        init(_ specification: AdapterSpecification?) {
            switch specification {
            case nil: self = .monitor(nil)
            case .kernel(let adapter)?: self = .monitor(adapter)
            case let other?: self = .radio(other)
            }
        }

        var isKernel: Bool { if case .monitor = self { true } else { false } }
    }

    private func rotation() throws(Failure) -> Rotation {
        let rotation = Rotation(
            size: try reading("--rotate-size", rotateSize) { try Rotation.octets(text: $0) },
            time: try bletool.duration(rotateTime, of: "--rotate-time"), kept: keep)
        if let keep {
            guard keep >= 1 else { throw Failure(.usage, "--keep", "must be at least 1") }
            guard rotation.isThere else {
                throw Failure(.usage, "--keep", "needs --rotate-size or --rotate-time")
            }
        }
        if rotation.isThere, file == "-" { throw Failure(.usage, "capture -", "stdout is not rotated") }
        return rotation
    }

    private func monitor(
        _ adapter: AdapterSpecification.KernelAdapter?, _ rotation: Rotation, _ limit: Duration?,
        _ console: Console
    ) async throws(Failure) {
        Logs.start(output.logLevel)
        let index = try await Self.index(adapter)
        let monitor: KernelMonitor
        do throws(BLEError) {
            monitor = try KernelMonitor(for: .record(nil))
        } catch {
            throw Failure(error, while: "capture")
        }
        let end = CaptureEnd(count: count)
        let recording = try RecordingFile(file, .monitor, rotation: rotation, option: "capture") {
            end.fail($0.map { Failure(.input, "capture", $0) })
        }
        announce(console, adapter.map { "\($0)" } ?? "kernel")
        await Self.onLoop {
            do throws(PortError) {
                try monitor.start(Logger(label: "capture")) { packet in
                    guard index == nil || packet.index == index else { return }
                    guard end.wantsMore else { return }
                    let content = Record.Content(packet.opcode, packet.body.span)
                    end.note(recording.add(content, of: packet.index))
                } ended: {
                    end.fail(Failure(.adapter, "capture", "\($0)"))
                }
            } catch {
                end.fail(Failure(.adapter, "capture", "\(error)"))
            }
        }
        let failure = await end.wait(limit, console, isPiped: file == "-")
        await Self.onLoop { monitor.close() }
        try finish(recording, failure, console)
    }

    private static func onLoop(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            EventLoop.shared.execute {
                body()
                continuation.resume()
            }
        }
    }

    private static func index(_ adapter: AdapterSpecification.KernelAdapter?) async throws(Failure) -> UInt16?
    {
        guard let adapter else { return nil }
        if case .index(let index) = adapter { return index }
        let found: AdapterDescription?
        do throws(BLEError) {
            found = try await Adapter.list().first { adapter.names($0) }
        } catch {
            throw Failure(error, while: "capture")
        }
        guard let found else { throw Failure(.adapter, "--adapter", "there is no \(adapter)") }
        return found.index
    }

    private func radio(
        _ adapter: AdapterSpecification, _ rotation: Rotation, _ limit: Duration?, _ console: Console
    ) async throws(Failure) {
        let end = CaptureEnd(count: count)
        let recording = try RecordingFile(file, .h4, rotation: rotation, option: "capture") {
            end.fail($0.map { Failure(.input, "capture", $0) })
        }
        let radio = try await Radio.open(global, console, doing: "capture") { direction, packet in
            guard end.wantsMore else { return }
            end.note(recording.add(.packet(direction, [UInt8](copying: packet))))
        }
        announce(console, "\(adapter)")
        var options = ScanOptions()
        options.isPassive = !active
        options.repeats = .all
        let stream = radio.central.scan(options)
        let scan = Task {
            do throws(BLEError) {
                for try await _ in stream {}
            } catch {
                end.fail(Failure(error, while: "capture"))
            }
        }
        let failure = await end.wait(limit, console, isPiped: file == "-")
        scan.cancel()
        _ = await radio.close()
        try finish(recording, failure, console)
    }

    private func announce(_ console: Console, _ adapter: String) {
        if file != "-" { console.show(CaptureEvent.began(file: file, adapter: adapter)) }
    }

    /// Closes the recording, and shows the numbers of its records and files.
    private func finish(
        _ recording: RecordingFile, _ failure: Failure?, _ console: Console
    ) throws(Failure) {
        let problem = recording.close()
        if file != "-" {
            console.show(
                CaptureEvent.ended(
                    file: file, records: recording.count, files: recording.files,
                    kept: min(recording.files, keep ?? .max)))
        }
        if let problem { throw Failure(.input, "capture", problem) }
        if let failure { throw failure }
        // A recording with --duration is complete at the end of that time. One with --count that --timeout
        // has ended is not.
        guard let count, recording.count < count, duration == nil, file != "-",
            let limit = try global.time.limit()
        else { return }
        throw Failure(.timeout, "capture", "\(recording.count) of \(count) records came in \(limit.text)")
    }
}

/// The events of `capture`: the start and the end of a recording.
enum CaptureEvent: Event {
    /// Packets are recorded from now on.
    case began(file: String, adapter: String)
    /// The recording has ended, perhaps by a failure. Of `files` created files, `kept` have not been removed.
    case ended(file: String, records: Int, files: Int, kept: Int)

    var json: JSONValue {
        switch self {
        case .began(let file, let adapter):
            ["event": "capturing", "file": .string(file), "adapter": .string(adapter)]
        case .ended(let file, let records, let files, _):
            [
                "event": "captured", "file": .string(file), "records": JSONValue(records),
                "files": JSONValue(files),
            ]
        }
    }

    func lines(colored: Bool) -> [String] {
        switch self {
        case .began(let file, let adapter): ["recording \(adapter) to \(file.printable); Ctrl-C ends it"]
        case .ended(let file, let records, let files, let kept):
            [
                "\(records) records in \(files == 1 ? "" : "\(files) files of ")\(file.printable)"
                    + (kept < files ? "; the newest \(kept == 1 ? "is" : "\(kept) are") kept" : "")
            ]
        }
    }
}

/// Waits for the end of a recording: enough records, the end of its time, a failure, an output without a
/// reader, or the cancellation of the command.
final class CaptureEnd: Sendable {
    private let wanted: Int?
    private let isReached = Lock(false)
    private let stream: AsyncStream<Failure?>
    private let continuation: AsyncStream<Failure?>.Continuation

    init(count: Int?) {
        wanted = count
        // Only the first reason for the end is kept.
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Whether another record is added. What is sent to a controller after the last record is not recorded.
    var wantsMore: Bool { isReached.withLock { !$0 } }

    /// Notes the number of records so far. Ends the capture if it is the requested number.
    func note(_ count: Int) {
        guard let wanted, count >= wanted else { return }
        isReached.withLock { $0 = true }
        continuation.yield(nil)
    }

    /// Ends the capture with a failure; with nil when the output has no reader any more.
    func fail(_ failure: Failure?) { continuation.yield(failure) }

    /// Waits for the end. Returns the failure that ended the capture, or nil.
    func wait(_ limit: Duration?, _ console: Console, isPiped: Bool) async -> Failure? {
        await withTaskGroup(of: Failure?.self) { group in
            group.addTask { [stream] in
                for await failure in stream { return failure }
                return nil
            }
            group.addTask {
                await Interruption.wait(limit)
                return nil
            }
            if isPiped {
                group.addTask {
                    await console.output.readerHasGone()
                    return nil
                }
            }
            let failure = await group.next() ?? nil
            group.cancelAll()
            return failure
        }
    }
}
