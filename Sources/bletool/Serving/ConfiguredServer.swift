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
    /// What runs the programs of `read:` and `write:`.
    private let runners: [AttributeHandle: ProgramRunner]

    init(configuration: ServeConfiguration, manager: PeripheralManager, console: Console) {
        (self.configuration, self.manager, self.console) = (configuration, manager, console)
        let withPrograms = configuration.services.flatMap(\.characteristics).filter {
            $0.read != nil || $0.write != nil
        }
        runners = Dictionary(uniqueKeysWithValues: withPrograms.map { ($0.valueHandle, ProgramRunner()) })
    }

    func publish() async throws(BLEError) {
        let services = configuration.services.map { service in
            GATTService(service, among: configuration.services, handlers)
        }
        try await manager.publish(
            services, generic: configuration.generic, options: ServerOptions(configuration))
    }

    /// What answers reads and takes writes in place of the stored value.
    private func handlers(
        _ characteristic: CharacteristicConfiguration
    ) -> (onRead: ReadHandler?, onWrite: WriteHandler?) {
        guard let runner = runners[characteristic.valueHandle] else { return (nil, nil) }
        let (uuid, dropped) = (characteristic.uuid, Lock(0))
        var (onRead, onWrite): (ReadHandler?, WriteHandler?)
        if let program = characteristic.read {
            onRead = { request in
                guard start(program, on: runner, [], for: request.pending, of: uuid, dropped) else {
                    throw ATTErrorCode.insufficientResources
                }
                return .later
            }
        }
        if let program = characteristic.write {
            onWrite = { request in
                guard start(program, on: runner, request.value, for: request.pending, of: uuid, dropped)
                else {
                    if request.kind.isCommand { dropped.withLock { $0 += 1 } }
                    throw ATTErrorCode.insufficientResources
                }
                return .later
            }
        }
        return (onRead, onWrite)
    }

    /// Asks for a program's run, whose outcome is the answer; false when too many wait already. `dropped`
    /// counts the writes without response for which there was no room.
    private func start(
        _ program: Program, on runner: ProgramRunner, _ input: [UInt8], for pending: PendingAnswer,
        of uuid: BluetoothUUID, _ dropped: Lock<Int>
    ) -> Bool {
        runner.start(program, input: input) { [manager, console] result in
            // What is dropped at the end is reported by its number.
            if case .failure(let problem) = result, !problem.isDropped {
                console.note("\(uuid): \(problem.reason)")
            }
            await manager.complete(pending, with: result.mapError { _ in .unlikelyError })
            let count = dropped.withLock { count in
                defer { count = 0 }
                return count
            }
            if count > 0 {
                let writes = count == 1 ? "1 write" : "\(count) writes"
                console.note(
                    "\(uuid): dropped \(writes) without response: \(ProgramRunner.limit) waited for their program"
                )
            }
        }
    }

    /// Lets the programs of what was read and written run to their end, for 10 s; says which do not.
    func finish() async {
        let count = runners.values.reduce(0) { $0 + $1.count }
        if count > 0 { console.note("waiting for \(Self.programs(count)), 10 s at most") }
        await withTaskGroup(of: Void.self) { group in
            for (handle, runner) in runners {
                group.addTask { [console] in
                    let count = await runner.finish(within: .seconds(10))
                    guard count > 0 else { return }
                    let uuid = configuration.services.flatMap(\.characteristics).first {
                        $0.valueHandle == handle
                    }?.uuid
                    console.note(
                        "\(uuid.map { "\($0)" } ?? "\(handle)"): the server ends without \(Self.programs(count))"
                    )
                }
            }
        }
    }

    private static func programs(_ count: Int) -> String { count == 1 ? "1 program" : "\(count) programs" }

    /// Sends the values of `notify:` to those who have subscribed, until the task is cancelled.
    func sendValues() async {
        await withTaskGroup(of: Void.self) { group in
            for characteristic in configuration.services.flatMap(\.characteristics) {
                guard let notify = characteristic.notify else { continue }
                let values = NotifiedValues(of: characteristic, manager: manager, console: console)
                group.addTask { await values.send(notify) }
            }
        }
    }
}
