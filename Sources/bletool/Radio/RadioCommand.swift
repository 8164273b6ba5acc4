import ArgumentParser
import BLE
import BLECore
import HCISocket

/// A command that uses a radio.
protocol RadioCommand: ToolCommand, Sendable {
    /// What the command is called in messages: `scan`.
    static var doing: String { get }
    /// Checks the options, before a radio is touched.
    func check() throws(Failure)
    /// Does it; when the task is cancelled, by Ctrl-C, it undoes what it began and returns or throws.
    func run(_ radio: Radio) async throws(Failure)
}

extension RadioCommand {
    static var doing: String { configuration.commandName ?? "bletool" }

    func perform(_ console: Console) async throws(Failure) {
        try check()
        try await performOnRadio(console)
    }

    /// Opens the radio, runs the command on it and closes it, however the command ends.
    func performOnRadio(_ console: Console) async throws(Failure) {
        let result = await Interruption.result { () throws(Failure) in
            let radio = try await Radio.open(global, console, doing: Self.doing)
            do throws(Failure) {
                try await run(radio)
            } catch {
                _ = await radio.close()
                throw error
            }
            if let problem = await radio.close() { throw problem }
        }
        try result.get()
    }
}

/// The radio of a command, opened, and where the command speaks.
struct Radio: Sendable {
    let adapter: Adapter
    let console: Console
    let timeLimit: Duration?
    private let recording: RecordingFile?
    private let doing: String

    /// Opens the adapter that the options name, else the first of the kernel.
    static func open(_ options: GlobalOptions, _ console: Console, doing: String) async throws(Failure)
        -> Radio
    {
        let timeLimit = try options.timeLimit()
        Logs.start(options.logLevel)
        let wanted = try options.adapter()
        let recording = try options.capture.map { path throws(Failure) in try RecordingFile(path) }
        do throws(BLEError) {
            let specification: AdapterSpecification
            if let wanted { specification = wanted } else { specification = try await .firstKernelAdapter() }
            let adapter = try await Adapter.open(
                specification,
                options: AdapterOptions(
                    capture: recording?.sink, airPath: Environment.value("BLETOOL_AIR"),
                    airLauncher: .detached))
            return Radio(
                adapter: adapter, console: console, timeLimit: timeLimit, recording: recording, doing: doing)
        } catch {
            throw Failure(error, while: wanted.map { "\($0)" } ?? "adapter")
        }
    }

    /// Ends what the command did on the radio, and its recording; says what is missing in that.
    func close() async -> Failure? {
        await adapter.close()
        return recording?.close().map { Failure(.input, "--capture", $0) }
    }

    /// The central's side of the adapter.
    var central: CentralManager { CentralManager(adapter) }

    /// Runs `body` for at most `limit`; false when the limit ended it. Nil: as long as it takes.
    func limited(
        _ limit: Duration?, _ body: @escaping @Sendable () async throws(BLEError) -> Void
    ) async throws(BLEError) -> Bool {
        do throws(BLEError) {
            try await adapter.within(limit, body)
            return true
        } catch .timedOut {
            return false
        }
    }

    /// Runs an operation of the library; its errors become failures of this command.
    func attempt<Result>(
        _ what: String? = nil, _ body: () async throws(BLEError) -> Result
    ) async throws(Failure) -> Result {
        do throws(BLEError) {
            return try await body()
        } catch {
            throw Failure(error, while: what ?? doing)
        }
    }
}

extension AdapterSpecification {
    /// The first adapter of the kernel.
    fileprivate static func firstKernelAdapter() async throws(BLEError) -> Self {
        guard let first = try await Adapter.list().first else { throw .adapter(.missing("of the kernel")) }
        return .kernel(.index(first.index))
    }
}
