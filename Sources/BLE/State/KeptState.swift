import BLECore
import HCISocket
import Logging

/// What a file of state says: sections of text, of which each stands for itself.
protocol StateText: Sendable {
    /// Creates the state of an empty file.
    init()
    /// All sections of the state, as they are in the file.
    var text: [UInt8] { get }
    /// Reads one section into the state.
    mutating func read(_ section: TextSection) throws(TextError)
}

/// A value in memory and on the disk. Changes are made at once, on any thread; the disk follows, never on an
/// event loop, and `flush` waits for it. What changes until a write begins goes with it.
final class KeptState<Value: StateText>: Sendable {
    private struct State {
        var value: Value
        var isScheduled = false
        /// Whether the disk has not all of it.
        var isChanged = false
        var end: BLEError?
    }

    /// Parts of the file that could not be read, and why; the others are there.
    let problems: [StateError]
    private let state: Lock<State>
    private let file: StateFile
    private let loop: EventLoop
    private let log = Logger(label: "ble.state")

    private init(_ value: Value, _ file: StateFile, _ loop: EventLoop, _ problems: [StateError]) {
        state = Lock(State(value: value))
        self.file = file
        self.loop = loop
        self.problems = problems
    }

    /// Opens the file of that name, made if it is missing; nil when another process has it. `loop` is whose time waits
    /// for the disk.
    static func open(
        _ name: String, in folder: String, _ disk: Disk = Disk(), for loop: EventLoop
    ) async throws(BLEError) -> KeptState? {
        try await loop.withClockHeld { () throws(BLEError) in
            try await offLoop { () throws(BLEError) in
                do throws(StateError) {
                    guard let file = try StateFile(name, in: folder, disk) else { return nil }
                    return try await read(file, for: loop)
                } catch {
                    throw .restoration(.state(error))
                }
            }
        }
    }

    /// A file of which a part makes no sense is kept beside the one that has the rest.
    private static func read(
        _ file: isolated StateFile, for loop: EventLoop
    ) throws(StateError) -> KeptState {
        var value = Value()
        guard let octets = try file.contents() else { return KeptState(value, file, loop, []) }
        var (sections, problems) = TextReader.all(in: octets)
        for section in sections {
            var next = value
            do throws(TextError) {
                try next.read(section)
                value = next
            } catch {
                problems.append(error)
            }
        }
        if !problems.isEmpty {
            let version = problems.lazy.compactMap(\.version).max()
            try file.setAside(octets, suffix: version.map { "version-\($0)" } ?? "damaged")
            try file.replace(value.text)
        }
        let state = KeptState(value, file, loop, problems.map { StateError($0, in: file.path) })
        for problem in state.problems { state.log.warning("\(problem)") }
        return state
    }

    var value: Value { state.withLock { $0.value } }

    /// Changes it, for `flush` to bring it to the disk. After the end nothing changes any more.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            state.isChanged = true
            return body(&state.value)
        }
    }

    /// Changes it; the disk follows by itself.
    func changeSoon(_ body: (inout Value) -> Void) {
        change(body)
        let isScheduled = state.withLock { state -> Bool in
            defer { state.isScheduled = true }
            return state.isScheduled || state.end != nil
        }
        guard !isScheduled else { return }
        Task.detached { [self] in
            do throws(BLEError) {
                try await write(to: file)
            } catch .restoration(let error) {
                log.error("changes of \(file.path) cannot be written: \(error)")
            } catch {
                // The end has come first.
            }
        }
    }

    /// Waits until all changes that were made before are on the disk; throws when they cannot be written. They stay in
    /// memory then, and are tried again with the next change or flush.
    func flush() async throws(BLEError) {
        try await loop.withClockHeld { () throws(BLEError) in
            try await offLoop { [self] () throws(BLEError) in try await write(to: file) }
        }
    }

    /// Writes what has changed until now and nothing any more, and lets another process have the file: when the task is
    /// done. A flush then throws `reason`.
    @discardableResult
    func end(_ reason: BLEError) -> Task<Void, Never> {
        state.withLock { $0.end = $0.end ?? reason }
        return Task.detached { [file] in await self.finish(file) }
    }

    private func finish(_ file: isolated StateFile) {
        let value = state.withLock { state -> Value? in
            defer { state.isChanged = false }
            return state.isChanged ? state.value : nil
        }
        if let value {
            do throws(StateError) {
                try file.replace(value.text)
            } catch {
                log.error("the last changes of \(file.path) cannot be written: \(error)")
            }
        }
        file.letGo()
    }

    /// Calls come one after the other, as the file is an actor, so what an earlier one has taken is on the
    /// disk when this one begins.
    private func write(to file: isolated StateFile) throws(BLEError) {
        let (value, end) = state.withLock { state in
            state.isScheduled = false
            if state.end == nil { state.isChanged = false }
            return (state.value, state.end)
        }
        if let end { throw end }
        do throws(StateError) {
            try file.replace(value.text)
        } catch {
            state.withLock { $0.isChanged = true }
            throw .restoration(.state(error))
        }
    }
}
