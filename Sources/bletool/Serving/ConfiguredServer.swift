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
    /// The writes without response that were dropped.
    private let dropped: AsyncStream<ServerEvent>
    private let drops: AsyncStream<ServerEvent>.Continuation
    /// The number of drops that occurred too fast to be shown.
    private let unshown = Lock(0)

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
        if let program = characteristic.read, let runner = runners[handle] {
            onRead = { request in
                guard start(program, on: runner, [], for: request.pending, of: uuid) else {
                    throw ATTErrorCode.insufficientResources
                }
                return .later
            }
        }
        switch characteristic.write {
        case .exec(let program):
            guard let runner = runners[handle] else { break }
            onWrite = { request in
                guard start(program, on: runner, request.value, for: request.pending, of: uuid) else {
                    throw refusal(of: request, limit: runner.limit)
                }
                return .later
            }
        case .lines(_, let format):
            guard let lines = writtenLines[handle] else { break }
            onWrite = { request in
                guard lines.send(Array(format.text(request.value).utf8)) else {
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
        guard request.kind == .command || request.kind == .signed else { return .insufficientResources }
        let write = request.write
        let event = ServerEvent(
            central: request.central.address,
            what: .dropped(
                .init(handle: write.handle, uuid: write.uuid, value: write.value),
                .init(rawValue: request.kind.rawValue) ?? .command, limit: limit))
        // A handler does not wait for the output.
        if case .dropped = drops.yield(event) {
            unshown.withLock { $0 += 1 }
        }
        return .insufficientResources
    }

    /// Requests a run of a program, whose outcome is the answer. Returns false if too many octets are
    /// waiting.
    private func start(
        _ program: Program, on runner: ProgramRunner, _ input: [UInt8], for pending: PendingAnswer,
        of uuid: BluetoothUUID
    ) -> Bool {
        runner.start(program, input: input) { [manager, console] result in
            // The number of runs that are dropped at the end is reported by `finish`.
            if case .failure(let problem) = result, !problem.isDropped {
                console.note("\(uuid): \(problem.reason)")
            }
            await manager.complete(pending, with: result.mapError { _ in .unlikelyError })
        }
    }

    /// Shows the writes without response that are dropped, until `finish`.
    func showDrops() async {
        for await event in dropped { console.show(event) }
        let count = unshown.withLock { $0 }
        if count > 0 { console.note("\(count) more writes without response were dropped") }
    }

    /// Lets the programs of reads and writes run to their end, for up to 10 s. Reports those that do not end.
    func finish() async {
        let count = runners.values.reduce(0) { $0 + $1.count }
        defer { drops.finish() }
        if count > 0 { console.note("waiting for \(Self.programs(count)), 10 s at most") }
        await withTaskGroup(of: Void.self) { group in
            for (handle, runner) in runners {
                group.addTask { [console] in
                    let count = await runner.finish(within: .seconds(10))
                    guard count > 0 else { return }
                    console.note("\(name(of: handle)): the server ends without \(Self.programs(count))")
                }
            }
            for (handle, lines) in writtenLines {
                group.addTask { [console] in
                    let count = await lines.finish(within: .seconds(10))
                    guard count > 0 else { return }
                    let values = count == 1 ? "1 value" : "\(count) values"
                    console.note(
                        "\(name(of: handle)): the server ends with \(values) that its program has not read")
                }
            }
        }
    }

    /// Returns the name, in messages, of the characteristic with its value at a handle.
    private func name(of handle: AttributeHandle) -> String {
        let all = configuration.services.flatMap(\.characteristics)
        return all.first { $0.valueHandle == handle }.map { "\($0.uuid)" } ?? "\(handle)"
    }

    private static func programs(_ count: Int) -> String { count == 1 ? "1 program" : "\(count) programs" }

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
