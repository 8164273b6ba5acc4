import ATT
import BLE
import BLECore
import Glibc
import HCISocket
import Synchronization

/// The shell of `gatt … -i` on a terminal. It runs typed lines one after the other on one link. Output that
/// arrives meanwhile is printed above the input line.
actor GATTShell {
    /// The link, and what runs on it.
    private struct Session {
        let number: Int
        let device: ConnectedDevice
        let runner: ScriptRunner
        let watch: Task<Void, Never>
    }

    /// The maximum number of attributes whose last values are kept.
    private static let valueLimit = 1024
    /// The maximum number of keys that are kept while a command runs.
    private static let typedAheadLimit = 4096

    private let radio: Radio
    private let terminal: RawTerminal
    private let connect: @Sendable () async throws(Failure) -> Peripheral
    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private var console: Console { radio.console }

    private var session: Session?
    private var sessions = 0
    private var name = ""
    private var editor = LineEditor()
    private var completion = ShellCompletion(verbs: ShellVerbs.table)
    private let values = Lock<[AttributeHandle: [UInt8]]>([:])
    private var running: Task<Void, Never>?
    private var wasCancelled = false
    private var lines = 0
    private var typedAhead: [TerminalKey] = []
    private var question: (text: String, answer: CheckedContinuation<String?, Never>, draft: LineEditor)?

    /// Creates a shell on a link that `connect` can establish again.
    init(
        _ radio: Radio, at terminal: RawTerminal,
        connect: @escaping @Sendable () async throws(Failure) -> Peripheral
    ) {
        self.radio = radio
        self.terminal = terminal
        self.connect = connect
        // Unbounded, because no key and no end of a command must be lost. A user types more slowly than keys
        // are processed.
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    /// Reads and runs lines until `quit`, Ctrl-D or the end of input.
    func run(on first: Peripheral) async {
        terminal.take { [continuation] in continuation.yield(.redraw) }
        let keys = Task { [continuation, terminal, loop = radio.adapter.loop] in
            var reader = KeyReader(terminal, on: loop)
            while let keys = await reader.next() { continuation.yield(.keys(keys)) }
            continuation.yield(.keys(nil))
        }
        TerminalQuestion.shell.withLock { $0 = Self.asking(continuation) }
        defer {
            TerminalQuestion.shell.withLock { $0 = nil }
            question?.answer.resume(returning: nil)
            continuation.finish()
            keys.cancel()
            running?.cancel()
            session?.watch.cancel()
            terminal.release()
        }
        console.output.line("connected; help lists the commands, Ctrl-D ends the shell")
        await begin(first)
        draw()
        for await event in events {
            guard await take(event) else { break }
            draw()
        }
        if let ended = session.take() { await ended.device.peripheral.disconnect() }
    }

    /// Returns the function that asks the user while the shell has the terminal.
    private static func asking(
        _ continuation: AsyncStream<Event>.Continuation
    ) -> @Sendable (String) async -> String? {
        { question in
            await withTaskCancellationHandler {
                await withCheckedContinuation { answer in
                    if case .terminated = continuation.yield(.question(question, answer)) {
                        answer.resume(returning: nil)
                    }
                }
            } onCancel: {
                continuation.yield(.noQuestion)
            }
        }
    }

    /// Handles an event. Returns false at the end of the shell.
    private func take(_ event: Event) async -> Bool {
        switch event {
        case .redraw: PinnedLine.show(nil, on: console.output)
        case .keys(nil): return false
        case .keys(let keys?): return await type(keys)
        case .done(let failure):
            running = nil
            if wasCancelled {
                console.errors.line("cancelled")
            } else if let failure {
                console.show(failure)
            }
            return await typeAhead()
        case .connected(let peripheral):
            running = nil
            await begin(peripheral)
            return await typeAhead()
        case .lost(let number, let reason):
            guard session?.number == number else { return true }
            session = nil
            console.errors.line("disconnected: \(reason); connect connects again")
        case .question(let text, let answer):
            question?.answer.resume(returning: nil)
            question = (text, answer, question?.draft ?? editor)
            editor = LineEditor()
        case .noQuestion: answer(nil)
        }
        return true
    }

    /// Starts a session on a new link: gets the device's name, and the attributes for completion.
    private func begin(_ peripheral: Peripheral) async {
        sessions += 1
        var device = ConnectedDevice(peripheral: peripheral, radio: radio)
        device.onValue = { [values] handle, value in
            // Longer values are not offered.
            let kept = value.count <= ShellCompletion.longest ? value : nil
            values.withLock { if $0.count < Self.valueLimit || $0[handle] != nil { $0[handle] = kept } }
        }
        let watch = Task { [continuation, number = sessions] in
            guard let reason = try? await peripheral.disconnection() else { return }
            continuation.yield(.lost(number: number, reason))
        }
        session = Session(number: sessions, device: device, runner: ScriptRunner(device), watch: watch)
        name = peripheral.address.text
        guard let database = try? await device.discover() else { return }
        completion.attributes = database.spelledAttributes
        guard let characteristic = database.service(0x1800)?.characteristic(0x2a00),
            let octets = try? await device.attempt(
                "name",
                { () throws(BLEError) in
                    try await peripheral.read(characteristic, raisingSecurity: false)
                }), let text = ValueType.utf8(octets), !text.isEmpty
        else { return }
        name = text.printable
    }
}

// MARK: - Typing

extension GATTShell {
    private var prompt: String {
        question?.text.printable ?? (session == nil ? "\(name) (not connected)> " : "\(name)> ")
    }

    /// Shows the input line, unless a command is running that has not asked a question.
    private func draw() {
        guard running == nil || question != nil else { return PinnedLine.show(nil, on: console.output) }
        let view = editor.view(prompt: prompt, columns: console.output.size.columns)
        PinnedLine.show("\(view.line)\r\u{1b}[\(view.cursor)C", on: console.output)
    }

    private func typeAhead() async -> Bool {
        defer { wasCancelled = false }
        let keys = typedAhead
        typedAhead = []
        return await type(keys)
    }

    /// Handles keys. Returns false when they end the shell.
    private func type(_ keys: [TerminalKey]) async -> Bool {
        for (index, key) in keys.enumerated() {
            if running != nil, question == nil {
                if key == .control("c") {
                    wasCancelled = true
                    typedAhead = []
                    running?.cancel()
                } else if typedAhead.count < Self.typedAheadLimit {
                    typedAhead += keys[index...index]
                }
                continue
            }
            let shown = prompt + String(editor.text)
            switch editor.take(key) {
            case .line(let line)?:
                keep(shown)
                if question != nil { answer(line) } else if await !start(line) { return false }
            case .interrupt?:
                keep(shown + "^C")
                answer(nil)
            case .end?:
                guard question == nil else { answer(nil); break }
                keep(shown)
                return false
            case .complete? where question == nil: complete()
            case .clear?: _ = console.output.text("\u{1b}[H\u{1b}[2J")
            case .complete?, nil: break
            }
        }
        return true
    }

    /// Keeps a typed line on the screen.
    private func keep(_ line: String) {
        PinnedLine.show(nil, on: console.output)
        console.output.line(line)
    }

    private func answer(_ text: String?) {
        guard let asked = question.take() else { return }
        editor = asked.draft
        asked.answer.resume(returning: text)
    }

    private func complete() {
        completion.values = values.withLock { $0 }
        let (word, candidates) = completion.candidates(before: editor.beforeCursor)
        let more = ShellCompletion.insertion(word, candidates)
        editor.insert(Array(more))
        guard more.isEmpty, candidates.count > 1 else { return }
        let columns = console.output.size.columns
        let width = (candidates.map(\.columns).max() ?? 0) + 2
        let perRow = max(1, columns / width)
        for start in stride(from: 0, to: candidates.count, by: perRow) {
            let row = candidates[start..<min(start + perRow, candidates.count)]
            console.output.line(row.map { $0.filling(width) }.joined())
        }
    }
}

// MARK: - Doing

extension GATTShell {
    /// Starts the command of a line. Returns false if it ends the shell.
    private func start(_ line: String) async -> Bool {
        do throws(Failure) {
            let words = try reading("") { try ScriptWords.split(line) }
            switch words.first {
            case nil: return true
            case "quit", "exit": return false
            case "help": for line in ShellVerbs.help(words.dropFirst().first) { console.output.line(line) }
            case "connect":
                guard session == nil else { throw Failure(.input, "connect", "there is a link") }
                launch { [connect, continuation] () throws(Failure) in
                    continuation.yield(.connected(try await connect()))
                    return false
                }
            case "disconnect":
                guard let ended = session.take() else {
                    throw Failure(.input, "disconnect", "there is no link")
                }
                ended.watch.cancel()
                await ended.device.peripheral.disconnect()
            default:
                let step = try ScriptStep(line, json: console.isJSON)
                guard let step else { return true }
                guard let session else {
                    throw Failure(
                        .linkLost, words[0].printable, "there is no link", hint: "connect makes one")
                }
                lines += 1
                launch { [runner = session.runner, lines] () throws(Failure) in
                    try await runner.run(step, line: lines)
                    return true
                }
            }
        } catch {
            console.show(error)
        }
        return true
    }

    /// Runs a command while keys are handled. `body` returns whether its end is to be reported.
    private func launch(_ body: @escaping @Sendable () async throws(Failure) -> Bool) {
        PinnedLine.show(nil, on: console.output)
        running = Task { [continuation] in
            do throws(Failure) {
                if try await body() { continuation.yield(.done(nil)) }
            } catch {
                continuation.yield(.done(error))
            }
        }
    }
}

extension GATTShell {
    /// An event that the shell handles.
    enum Event: Sendable {
        /// The window has a new size, or has lost its contents.
        case redraw
        /// Keys were pressed; nil if no more can follow.
        case keys([TerminalKey]?)
        /// The command that ran has ended.
        case done(Failure?)
        /// The `connect` command has established a link.
        case connected(Peripheral)
        /// A link has ended for this reason.
        case lost(number: Int, DisconnectReason)
        /// A question for the user to answer.
        case question(String, CheckedContinuation<String?, Never>)
        /// The question needs no answer any more.
        case noQuestion
    }
}
