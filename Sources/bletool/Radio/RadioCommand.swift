import ArgumentParser
import BLE
import BLECore
import HCISocket

/// A command that uses a radio.
protocol RadioCommand: ToolCommand, Sendable {
    /// The options that every radio command has.
    var global: GlobalOptions { get }
    /// The name of the command in messages: `scan`.
    static var doing: String { get }
    /// Whether the extended commands can be sent to the controller.
    var usesExtendedCommands: Bool { get }
    /// Returns how the adapter pairs, and where it keeps bonds.
    func security(_ console: Console) async throws(Failure) -> SecurityOptions
    /// Checks the options before a radio is used.
    func check() throws(Failure)
    /// Runs the command. When Ctrl-C cancels the task, undoes what it started, and returns or throws.
    func run(_ radio: Radio) async throws(Failure)
}

extension RadioCommand {
    static var doing: String { configuration.commandName ?? "bletool" }
    var usesExtendedCommands: Bool { true }
    var output: OutputOptions { global.output }
    var usesKernelAdapters: Bool { global.radio.mayBeKernel }

    /// The user is not asked anything: new devices pair with Just Works.
    func security(_ console: Console) throws(Failure) -> SecurityOptions { SecurityOptions() }

    func perform(_ console: Console) async throws(Failure) {
        try check()
        try await performOnRadio(console)
    }

    /// Opens the radio, runs the command on it and closes it, however the command ends.
    func performOnRadio(_ console: Console) async throws(Failure) {
        let security = try await security(console)
        let result = await Interruption.result { () throws(Failure) in
            let radio = try await Radio.open(
                global, console, doing: Self.doing, usesExtendedCommands: usesExtendedCommands,
                security: security)
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

/// The open radio of a command, and the command's console.
struct Radio: Sendable {
    let adapter: Adapter
    let console: Console
    /// The limit of `--timeout`.
    let timeLimit: Duration?
    /// The time at which `--timeout` ends; nil while it limits each operation separately, and without a limit.
    private var deadline: Instant?
    /// Reports changes of the controller's health.
    let health: HealthWatch
    private let recording: RecordingFile?
    private let doing: String

    /// What is left of `--timeout`.
    var timeLeft: Duration? {
        deadline.map { max(.zero, adapter.loop.now.duration(until: $0)) } ?? timeLimit
    }

    /// What is left of `--timeout` if it limits the operations of a command together; otherwise nil.
    var sharedTimeLeft: Duration? { deadline == nil ? nil : timeLeft }

    /// Returns the radio for a command whose operations share one time limit, from now on.
    func sharingTimeLimit() -> Radio {
        var radio = self
        radio.deadline = timeLimit.map { adapter.loop.now + $0 }
        return radio
    }

    /// Returns the earlier one of the end of `--timeout` and a command's `--duration`.
    func limit(_ duration: Duration?) -> Duration? { [duration, timeLeft].compactMap(\.self).min() }

    /// Whether `--timeout` ends before a command's `--duration`.
    func isTimeout(before duration: Duration?) -> Bool {
        if let duration { timeLimit.map { $0 < duration } ?? false } else { true }
    }

    /// Opens the adapter that the options name, otherwise the first kernel adapter. `capture` receives the
    /// adapter's packets instead of the option's file.
    static func open(
        _ options: GlobalOptions, _ console: Console, doing: String, usesExtendedCommands: Bool = true,
        security: SecurityOptions = SecurityOptions(), capture: CaptureSink? = nil
    ) async throws(Failure) -> Radio {
        let (timeLimit, privacy) = (try options.time.limit(), try options.radio.privacyOptions())
        Logs.start(options.output.logLevel)
        let wanted = try options.radio.adapter()
        if options.radio.capture == "-" {
            throw Failure(
                .usage, "--capture -", "stdout is for what the command shows",
                hint: "name a file, or bletool capture -")
        }
        let recording = try options.radio.capture.map { path throws(Failure) in
            try RecordingFile(path) { problem in
                if let problem { console.note("--capture: \(problem): no more packets are recorded") }
            }
        }
        do throws(BLEError) {
            let specification: AdapterSpecification
            if let wanted { specification = wanted } else { specification = try await .firstKernelAdapter() }
            let options = AdapterOptions(
                capture: capture ?? recording?.sink, airLauncher: .detached,
                recoversWithLinks: options.radio.recoverWithLinks,
                usesExtendedCommands: usesExtendedCommands, security: security, privacy: privacy)
            // Another machine may not answer. Adapters of this machine have time limits of their own.
            let limit = if case .stream = specification { timeLimit } else { Duration?.none }
            let late = BLEError.timedOut(.opening, after: limit ?? .zero)
            let adapter = try await withDeadline(limit, on: .shared, orThrow: late) { () throws(BLEError) in
                try await Adapter.open(specification, options: options)
            }
            return Radio(
                adapter: adapter, console: console, timeLimit: timeLimit,
                health: HealthWatch(adapter, console: console), recording: recording, doing: doing)
        } catch {
            var failure = Failure(error, while: wanted.map { "\($0)" } ?? "adapter")
            if case .controllerSilent = error, case .serial(let path, let baud, let flowControl) = wanted {
                failure.hint = Failure.silentSerialPort(path, baud, flowControl)
            }
            throw failure
        }
    }

    /// Closes the adapter and the recording. Returns a failure if the recording is incomplete.
    func close() async -> Failure? {
        await adapter.close()
        await health.end()
        return recording?.close().map { Failure(.input, "--capture", $0) }
    }

    /// The adapter in the central role.
    var central: CentralManager { CentralManager(adapter) }

    /// Returns the time of an instant of the adapter's clock that is not long ago.
    func time(of instant: Instant) -> Timestamp {
        let age = instant.duration(until: adapter.loop.now)
        return Timestamp(milliseconds: Timestamp.now.milliseconds - age.nanoseconds / 1_000_000)
    }

    /// Runs `body` for at most `limit`, or without a limit if that is nil. Returns false when the limit ended
    /// it.
    func limited(
        _ limit: Duration?, _ body: @escaping @Sendable () async throws(BLEError) -> Void
    ) async throws(BLEError) -> Bool {
        try await adapter.until(limit, body) != nil
    }

    /// As `limited`, for operations that have no purpose without a reader. They also end when the output has
    /// no reader any more, without waiting for the next line, when `unless` returns, and when the task is
    /// cancelled.
    func limitedWhileRead(
        _ limit: Duration?, _ body: @escaping @Sendable () async throws(BLEError) -> Void,
        unless: @escaping @Sendable () async -> Void = { await Interruption.wait() }
    ) async throws(BLEError) -> Bool {
        let result = await withTaskGroup(of: Result<Bool, BLEError>.self) { group in
            group.addTask {
                do throws(BLEError) {
                    return .success(try await limited(limit, body))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await console.output.readerHasGone()
                return .success(true)
            }
            group.addTask {
                await unless()
                return .success(true)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .success(true)
        }
        // Which of the three tasks reports a cancellation first is a matter of chance.
        if case .failure(.cancelled) = result, Task.isCancelled { return true }
        return try result.get()
    }

    /// Returns the outcome of a library operation, for commands that have work to do after it in any case.
    func outcome<Success>(
        _ what: String? = nil, _ body: () async throws(BLEError) -> Success
    ) async -> Result<Success, Failure> {
        do throws(Failure) {
            return .success(try await attempt(what, body))
        } catch {
            return .failure(error)
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
