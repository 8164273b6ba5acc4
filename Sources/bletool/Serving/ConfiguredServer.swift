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

    /// Publishes the services.
    func publish() async throws(BLEError) {
        let services = configuration.services.map { service in
            GATTService(service, among: configuration.services, handlers)
        }
        await manager.adapter.setMTU(ATTMTU(UInt16(clamping: configuration.mtu)))
        try await manager.publish(
            services, generic: configuration.generic, configuration: GATTServer.Configuration(configuration))
    }

    /// What answers reads and takes writes in place of the stored value.
    private func handlers(
        _ characteristic: CharacteristicConfiguration
    ) -> (onRead: ReadHandler?, onWrite: WriteHandler?) {
        let runner = ProgramRunner()
        var (onRead, onWrite): (ReadHandler?, WriteHandler?)
        if let program = characteristic.read {
            onRead = { request in
                run(program, on: runner, [], for: request.pending, of: characteristic.uuid)
                return .later
            }
        }
        if let program = characteristic.write {
            onWrite = { request in
                run(program, on: runner, request.value, for: request.pending, of: characteristic.uuid)
                return .later
            }
        }
        return (onRead, onWrite)
    }

    private func run(
        _ program: Program, on runner: ProgramRunner, _ input: [UInt8], for pending: PendingAnswer,
        of uuid: BluetoothUUID
    ) {
        Task {
            let result: Result<[UInt8], ATTErrorCode>
            do throws(ProgramRunner.Problem) {
                result = .success(try await runner.run(program, input: input))
            } catch {
                console.note("\(uuid): \(error.reason)")
                result = .failure(.unlikelyError)
            }
            await manager.complete(pending, with: result)
        }
    }

    /// Sends the values of `notify:` to whoever wants them, until the task is cancelled.
    func sendValues() async {
        await withTaskGroup(of: Void.self) { group in
            for characteristic in configuration.services.flatMap(\.characteristics) {
                guard let notify = characteristic.notify else { continue }
                group.addTask { await send(notify, characteristic) }
            }
        }
    }

    private func send(_ notify: NotifyConfiguration, _ characteristic: CharacteristicConfiguration) async {
        let runner = ProgramRunner()
        var counter: UInt32 = 0
        while await manager.adapter.loop.sleep(for: notify.interval) {
            guard await manager.hasSubscribers(characteristic.valueHandle) else { continue }
            do {
                let value: [UInt8]
                switch notify.source {
                case .counter(let octets):
                    value = (0..<octets).map { UInt8(truncatingIfNeeded: counter >> UInt32(8 * $0)) }
                    counter &+= 1
                case .command(let program): value = try await runner.run(program)
                }
                try await manager.update(characteristic.valueHandle, to: value)
            } catch let problem as ProgramRunner.Problem {
                console.note("\(characteristic.uuid): \(problem.reason)")
            } catch BLEError.cancelled, BLEError.adapter(.closed) {
                return
            } catch {
                console.note("\(characteristic.uuid): \(error)")
            }
        }
    }
}
