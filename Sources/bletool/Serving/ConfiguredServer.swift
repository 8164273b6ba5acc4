import ATT
import BLE
import BLECore
import GATTServer
import HCISocket

/// The server that a configuration describes, on a radio.
struct ConfiguredServer: Sendable {
    let configuration: ServeConfiguration
    let manager: PeripheralManager
    let console: Console
    /// The runners of the programs of `read:` and `write: {exec: …}`.
    private let runners: [AttributeHandle: ProgramRunner]
    /// The queues of values for the programs of `write: {lines: …}`.
    private let writtenLines: [AttributeHandle: WrittenLines]
    /// The writes without response that were dropped or not delivered to their programs.
    private let dropped: AsyncStream<ServerEvent>
    private let drops: AsyncStream<ServerEvent>.Continuation
    /// The number of drops that occurred too fast to be shown.
    private let unshown = Lock(0)
    private let ending = Lock(Ending())

    /// The end of the programs.
    private struct Ending {
        /// The task of `finish`, which returns the number of requests and values that programs were not done
        /// with.
        var task: Task<Int, Never>?
        /// The number of writes without response that arrived after `finish` began.
        var lateWrites = 0
    }

    /// The maximum number of drops that are kept until they are shown.
    private static let dropLimit = 1024

    init(configuration: ServeConfiguration, manager: PeripheralManager, console: Console) {
        (self.configuration, self.manager, self.console) = (configuration, manager, console)
        var runners: [AttributeHandle: ProgramRunner] = [:]
        var writtenLines: [AttributeHandle: WrittenLines] = [:]
        for characteristic in configuration.services.flatMap(\.characteristics) {
            let (handle, uuid) = (characteristic.valueHandle, characteristic.uuid)
            if characteristic.read != nil { runners[handle] = ProgramRunner() }
            switch characteristic.write {
            case .exec: runners[handle] = runners[handle] ?? ProgramRunner()
            case .lines(let program, _):
                writtenLines[handle] = WrittenLines(to: program, on: manager.adapter.loop) {
                    console.note("\(uuid): \($0)")
                }
            case nil: break
            }
        }
        (self.runners, self.writtenLines) = (runners, writtenLines)
        (dropped, drops) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.dropLimit))
    }

    func publish() async throws(BLEError) {
        let services = configuration.services.map { service in
            GATTService(service, among: configuration.services, handlers)
        }
        try await manager.publish(
            services, generic: configuration.generic, options: ServerOptions(configuration))
    }

    /// Returns the handlers that answer reads and receive writes in place of the stored value.
    private func handlers(
        _ characteristic: CharacteristicConfiguration
    ) -> (onRead: ReadHandler?, onWrite: WriteHandler?) {
        let (handle, uuid) = (characteristic.valueHandle, characteristic.uuid)
        var (onRead, onWrite): (ReadHandler?, WriteHandler?)
        if let source = characteristic.read, let runner = runners[handle] {
            onRead = { request in
                guard start(source, on: runner, [], for: request.pending, of: uuid, write: nil) else {
                    throw ATTErrorCode.insufficientResources
                }
                return .later
            }
        }
        switch characteristic.write {
        case .exec(let program):
            guard let runner = runners[handle] else { break }
            onWrite = { request in
                guard
                    start(
                        ValueProgram(program: program), on: runner, request.value, for: request.pending,
                        of: uuid, write: request)
                else { throw refusal(of: request, limit: runner.limit) }
                return .later
            }
        case .lines(_, let format):
            guard let lines = writtenLines[handle] else { break }
            onWrite = { request in
                guard lines.send(Array(format.line(request.value).utf8)) else {
                    throw refusal(of: request, limit: WrittenLines.limit)
                }
                return .accept
            }
        case nil: break
        }
        return (onRead, onWrite)
    }

    /// Returns the error for a write for which there is no room. A write without response gets no response:
    /// it is dropped, and the drop is shown.
    private func refusal(of request: GATTWriteRequest, limit: Int) -> ATTErrorCode {
        let isEnding = ending.withLock { ending in
            guard ending.task != nil else { return false }
            if request.kind.isCommand { ending.lateWrites += 1 }
            return true
        }
        show(request) { .dropped($0, $1, limit: isEnding ? nil : limit) }
        return .insufficientResources
    }

    /// Shows an event about a write without response, later, because a handler does not wait for the output.
    /// Shows nothing about a write whose central waits for a response.
    private func show(
        _ request: GATTWriteRequest,
        as what: (ServerEvent.Access, ServerEvent.WriteKind) -> ServerEvent.What
    ) {
        guard request.kind.isCommand else { return }
        let write = request.write
        let access = ServerEvent.Access(handle: write.handle, uuid: write.uuid, value: write.value)
        let kind = ServerEvent.WriteKind(rawValue: request.kind.rawValue) ?? .command
        let event = ServerEvent(central: request.central.address, what: what(access, kind))
        if case .dropped = drops.yield(event) {
            unshown.withLock { $0 += 1 }
        }
    }

    /// Requests a run of a program, whose outcome is the answer. If the server ends before the program is run,
    /// shows that `write` was not delivered. Returns false if too many octets are waiting.
    private func start(
        _ source: ValueProgram, on runner: ProgramRunner, _ input: [UInt8], for pending: PendingAnswer,
        of uuid: BluetoothUUID, write: GATTWriteRequest?
    ) -> Bool {
        runner.start(source.program, format: source.format, input: input) { result in
            // The number of runs that are dropped at the end is reported by `finish`.
            if case .failure(let problem) = result {
                if !problem.isDropped {
                    console.note("\(uuid): \(problem.reason)")
                } else if let write {
                    show(write) { .undelivered($0, $1) }
                }
            }
            await manager.complete(
                pending, with: result.mapError { $0.lacksRoom ? .insufficientResources : .unlikelyError })
        }
    }

    /// Shows the writes without response that are dropped or not delivered, until the programs have ended.
    func showDrops() async {
        for await event in dropped { console.show(event) }
        let count = unshown.withLock { $0 }
        if count > 0 { console.note("\(count) more writes without response were dropped or not delivered") }
    }

    /// Lets the programs of reads and writes run to their end, for up to 10 s. Reports how many requests and
    /// values they were not done with by then. Returns this number, to each caller.
    func finish() async -> Int {
        let task = ending.withLock { ending in
            let task = ending.task ?? Task { await finishPrograms() }
            ending.task = task
            return task
        }
        let count = await task.value
        drops.finish()
        return count + ending.withLock { $0.lateWrites }
    }

    private func finishPrograms() async -> Int {
        let count = runners.values.reduce(0) { $0 + $1.count }
        if count > 0 { console.note("waiting for the programs of \(Self.requests(count)), 10 s at most") }
        return await withTaskGroup(of: Int.self) { group in
            for (handle, runner) in runners {
                group.addTask {
                    let count = await runner.finish(within: .seconds(10))
                    if count > 0 {
                        console.note(
                            "\(name(of: handle)): the server ends before its program was done with "
                                + Self.requests(count))
                    }
                    return count
                }
            }
            for (handle, lines) in writtenLines {
                group.addTask {
                    let count = await lines.finish(within: .seconds(10))
                    if count > 0 {
                        let values = count == 1 ? "1 value" : "\(count) values"
                        console.note(
                            "\(name(of: handle)): the server ends with \(values) that its program has not read"
                        )
                    }
                    return count
                }
            }
            return await group.reduce(0, +)
        }
    }

    /// Returns the name, in messages, of the characteristic with its value at a handle.
    private func name(of handle: AttributeHandle) -> String {
        let all = configuration.services.flatMap(\.characteristics)
        return all.first { $0.valueHandle == handle }.map { "\($0.uuid)" } ?? "\(handle)"
    }

    private static func requests(_ count: Int) -> String { count == 1 ? "1 request" : "\(count) requests" }

    /// Sends the values of `notify:` to subscribers until the task is cancelled. Also starts the programs
    /// that read written values, which end with `finish`.
    func sendValues() async {
        for lines in writtenLines.values { lines.start() }
        await withTaskGroup(of: Void.self) { group in
            for characteristic in configuration.services.flatMap(\.characteristics) {
                guard let notify = characteristic.notify else { continue }
                let values = NotifiedValues(of: characteristic, manager: manager, console: console)
                group.addTask { await values.send(notify) }
            }
        }
    }
}
