import BLE
import BLECore
import Glibc
import HCISocket

/// Sends the values of `notify:` for one characteristic until the task is cancelled.
struct NotifiedValues: Sendable {
    private let characteristic: CharacteristicConfiguration
    private let manager: PeripheralManager
    private let console: Console

    /// The maximum number of values of a program or a file that a central is sent before it has accepted the
    /// first of them.
    static let limit = 64
    /// The first and the longest pause before a program that has ended is run again.
    private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(60))

    init(of characteristic: CharacteristicConfiguration, manager: PeripheralManager, console: Console) {
        (self.characteristic, self.manager, self.console) = (characteristic, manager, console)
    }

    private var loop: EventLoop { manager.adapter.loop }

    func send(_ notify: NotifyConfiguration) async {
        await withDiscardingTaskGroup { group in
            switch notify {
            case .every(let interval, let source): await send(source, every: interval, &group)
            case .lines(let program, let format): await send(linesOf: program, format, &group)
            case .file(let path, let format): await send(path, format, &group)
            }
            group.cancelAll()
        }
    }

    private func note(_ what: String) { console.note("\(characteristic.uuid): \(what)") }

    // MARK: - One value at a time

    private func send(
        _ source: NotifyConfiguration.Source, every interval: Duration, _ group: inout DiscardingTaskGroup
    ) async {
        let (runner, unaccepted) = (ProgramRunner(), UnacceptedValues(limit: 1))
        var counter: UInt32 = 0
        while await loop.sleep(for: interval) {
            let free = await freeSubscribers(among: unaccepted)
            guard !free.isEmpty, let value = await value(of: source, &counter, by: runner) else { continue }
            update(to: value, for: free, unaccepted, &group)
        }
    }

    /// Returns the next value, or nil if its program does not provide one.
    private func value(
        of source: NotifyConfiguration.Source, _ counter: inout UInt32, by runner: ProgramRunner
    ) async -> [UInt8]? {
        switch source {
        case .counter(let octets):
            defer { counter &+= 1 }
            return [UInt8]([UInt8](littleEndian: counter).prefix(octets))
        case .command(let source):
            do throws(ProgramRunner.Problem) {
                return try await runner.run(source.program, format: source.format)
            } catch {
                note(error.reason)
                return nil
            }
        }
    }

    // MARK: - Lines of a program

    private func send(
        linesOf program: Program, _ format: ValueFormat, _ group: inout DiscardingTaskGroup
    ) async {
        let unaccepted = UnacceptedValues(limit: Self.limit)
        var pause = Self.pauses.first
        while !Task.isCancelled {
            let began = loop.now
            let end: String
            var problems = LineProblems()
            do {
                var lines = try ProgramLines(of: program, on: loop)
                while let line = try await lines.next() {
                    if let rest = problems.rest(at: loop.now) { note(rest) }
                    do throws(BadInput) {
                        await send(value: try format.octets(printed: line), unaccepted, &group)
                    } catch {
                        if problems.admit(at: loop.now) { note(error.reason) }
                    }
                }
                end = await lines.end()
            } catch {
                end = "\(program.name): \(BadInput(caught: error).reason)"
            }
            if let rest = problems.rest(at: nil) { note(rest) }
            guard !Task.isCancelled else { return }
            if began.duration(until: loop.now) >= Self.pauses.longest { pause = Self.pauses.first }
            note("\(end); it is run again in \(pause.text)")
            guard await loop.sleep(for: pause) else { return }
            pause = min(pause * 2, Self.pauses.longest)
        }
    }

    // MARK: - A file

    private func send(_ path: String, _ format: ValueFormat?, _ group: inout DiscardingTaskGroup) async {
        let unaccepted = UnacceptedValues(limit: Self.limit, repeatsLatest: true)
        var last: [UInt8]?
        var pause = Self.pauses.first
        if access(path, F_OK) != 0 { note("the file \(path.quoted) is not there yet") }
        while !Task.isCancelled {
            do throws(PortError) {
                let changes = try FileChanges(of: path, on: loop)
                pause = Self.pauses.first
                var change: FileChanges.Change? = .written
                while change == .written {
                    await send(contentsOf: path, format, &last, unaccepted, &group)
                    change = await changes.next()
                }
                guard change == .folderGone else { return }
                note("the folder of \(path.quoted) is gone; it is looked for again in \(pause.text)")
            } catch {
                note("\(path.quoted) cannot be watched: \(error); it is tried again in \(pause.text)")
            }
            guard await loop.sleep(for: pause) else { return }
            pause = min(pause * 2, Self.pauses.longest)
        }
    }

    /// Sends the contents of a file, unless they are those that were sent last.
    private func send(
        contentsOf path: String, _ format: ValueFormat?, _ last: inout [UInt8]?,
        _ unaccepted: UnacceptedValues,
        _ group: inout DiscardingTaskGroup
    ) async {
        do throws(BadInput) {
            // The text of a value can have more octets than the value.
            let octets = try File.contents(path, limit: format == nil ? StoredValue.limit : LineReader.limit)
            // An empty file is still being written.
            guard octets != last, !octets.isEmpty else { return }
            if let format {
                // As with programs, one line end at the end is not part of the value.
                let text = octets.last == UInt8(ascii: "\n") ? octets.dropLast() : octets
                await send(value: try format.octets(printed: text), unaccepted, &group)
            } else {
                await send(value: octets, unaccepted, &group)
            }
            last = octets
        } catch {
            // The file need not exist from the start.
            if last != nil || access(path, F_OK) == 0 { note("\(path.quoted) \(error.reason)") }
        }
    }

    // MARK: - Subscribers

    private func send(value: [UInt8], _ unaccepted: UnacceptedValues, _ group: inout DiscardingTaskGroup)
        async
    {
        unaccepted.latest(value)
        let free = await freeSubscribers(among: unaccepted)
        // Centrals that read get the value, even if none has subscribed.
        guard !free.isEmpty else { return await update(to: value, for: nil, unaccepted) }
        update(to: value, for: free, unaccepted, &group)
    }

    /// Returns the subscribers that accept another value. Reports those that have become late.
    private func freeSubscribers(among unaccepted: UnacceptedValues) async -> [Central] {
        let subscribers = await manager.subscribers(of: characteristic.valueHandle)
        let (free, late) = unaccepted.sort(subscribers.map(\.central))
        for central in late {
            let what = unaccepted.limit == 1 ? "the last value" : "the last \(unaccepted.limit) values"
            note("\(central.address) has not accepted \(what) yet, and gets no other until it has")
        }
        return free
    }

    private func update(
        to value: [UInt8], for centrals: [Central], _ unaccepted: UnacceptedValues,
        _ group: inout DiscardingTaskGroup
    ) {
        for central in centrals {
            unaccepted.begin(central)
            // Immediate tasks reach the adapter in the order of the values.
            group.addImmediateTask {
                await update(to: value, for: central, unaccepted)
                while let left = unaccepted.end(central) {
                    note("\(central.address) accepts values again; \(left.count) were left out")
                    guard let latest = left.latest else { return }
                    unaccepted.begin(central)
                    await update(to: latest, for: central, unaccepted)
                }
            }
        }
    }

    /// Stores the value, and sends it to `central`, if there is one. A problem is reported once, until a value
    /// is stored or the central is sent one again.
    private func update(
        to value: [UInt8], for central: Central?, _ unaccepted: UnacceptedValues
    ) async {
        do throws(BLEError) {
            try await manager.update(
                characteristic.valueHandle, to: value, for: central.map { [$0] } ?? [])
            for sent in [nil, central] { _ = unaccepted.isNew(nil, for: sent) }
        } catch .cancelled, .adapter(.closed) {
            return
        } catch {
            // Values of different lengths have the same problem.
            let problem = if case .limit(let limit, _, _) = error { "\(limit)" } else { "\(error)" }
            if case .invalidRequest = error {
                if unaccepted.isNew(problem, for: nil) { note("the value is not stored: \(error)") }
            } else if unaccepted.isNew(problem, for: central) {
                note((central.map { "\($0.address) does not receive the value: " } ?? "") + "\(error)")
            }
        }
    }
}

/// Tracks which centrals have accepted the values that they were sent, so that a slow central does not delay
/// the others.
private final class UnacceptedValues: Sendable {
    private struct State {
        /// The number of values that each central has not accepted yet.
        var waiting: [Central: Int] = [:]
        /// The centrals that were reported as late, with the number of values that they were not sent.
        var late: [Central: Int] = [:]
        /// The last problem that was reported for each central, until it is sent a value; for nil, the problem
        /// of the value itself.
        var problems: [Central?: String] = [:]
        var latest: [UInt8]?
    }

    private let state = Lock(State())
    /// The maximum number of values that a central is sent before it has accepted the first of them.
    let limit: Int
    /// Whether a central that was late is sent the latest value afterwards.
    private let repeatsLatest: Bool

    init(limit: Int, repeatsLatest: Bool = false) {
        (self.limit, self.repeatsLatest) = (limit, repeatsLatest)
    }

    /// Notes the value that is about to be sent.
    func latest(_ value: [UInt8]) { state.withLock { $0.latest = value } }

    /// Returns the `centrals` that accept another value, and those that do not for the first time.
    func sort(_ centrals: [Central]) -> (free: [Central], late: [Central]) {
        state.withLock { state in
            state.late = state.late.filter { centrals.contains($0.key) }
            state.problems = state.problems.filter { entry in
                entry.key.map(centrals.contains) ?? true
            }
            var (free, late): ([Central], [Central]) = ([], [])
            for central in centrals {
                if state.waiting[central, default: 0] < limit {
                    free.append(central)
                } else {
                    if state.late[central] == nil { late.append(central) }
                    state.late[central, default: 0] += 1
                }
            }
            return (free, late)
        }
    }

    /// Notes a problem with sending a value to a central, or for nil with storing it. A problem nil means that
    /// there was none. Returns whether the problem is another one than before.
    func isNew(_ problem: String?, for central: Central?) -> Bool {
        state.withLock { state in
            defer { state.problems[central] = problem }
            return state.problems[central] != problem
        }
    }

    func begin(_ central: Central) { state.withLock { $0.waiting[central, default: 0] += 1 } }

    /// Notes that a central has accepted a value. If the central was late and has accepted all, returns the
    /// number of values that it was not sent, and the value to send now. If only one value at a time is sent,
    /// a central stays late, because otherwise it would be reported at each value.
    func end(_ central: Central) -> (count: Int, latest: [UInt8]?)? {
        state.withLock { state in
            let count = state.waiting[central, default: 1] - 1
            state.waiting[central] = count > 0 ? count : nil
            guard count <= 0, limit > 1, let left = state.late.removeValue(forKey: central) else {
                return nil
            }
            return (left, repeatsLatest ? state.latest : nil)
        }
    }
}
