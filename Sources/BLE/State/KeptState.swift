import BLECore
import HCISocket
import Logging

/// The content of a state file: sections of text, each of which is independent of the others.
protocol StateText: Sendable {
    /// Creates the state of an empty file.
    init()
    /// All sections of the state, as they are in the file.
    var text: [UInt8] { get }
    /// Reads one section into the state.
    mutating func read(_ section: TextSection) throws(TextError)
}

/// A value in memory and on the disk. Changes take effect at once, on any thread. The disk follows, never on
/// an event loop, and `flush` waits for it. A write includes all changes that were made before it begins.
final class KeptState<Value: StateText>: Sendable {
    private struct State {
        var value: Value
        var isScheduled = false
        /// Whether there are changes that are not on the disk.
        var isChanged = false
        var end: BLEError?
    }

    /// The errors in the parts of the file that could not be read. The other parts were read.
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

    /// Opens the file with this name, and creates it if it is missing; nil when another process has it. The
    /// clock of `loop` is held while the disk is accessed.
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

    /// Reads a file. If a part of it cannot be read, keeps it under another name, and writes a file with the
    /// rest.
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

    /// Changes the value, which `flush` writes to the disk. Does nothing after the end.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            state.isChanged = true
            return body(&state.value)
        }
    }

    /// Changes the value, and starts to write it to the disk.
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
                // The state has ended before the write.
            }
        }
    }

    /// Waits until all changes that were made before are on the disk. Throws when they cannot be written:
    /// they then stay in memory, and are tried again with the next change or flush.
    func flush() async throws(BLEError) {
        try await loop.withClockHeld { () throws(BLEError) in
            try await offLoop { [self] () throws(BLEError) in try await write(to: file) }
        }
    }

    /// Ends the state: writes the changes that were made until now, and releases the file for another
    /// process. The returned task ends when that is done. A flush then throws `reason`.
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
        file.release()
    }

    /// Calls run one after the other, because the file is an actor, so the changes that an earlier call has
    /// taken are on the disk when this one begins.
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
