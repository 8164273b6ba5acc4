import BLECore
import HCISocket
import Testing

@testable import BLE

/// Tests of operations that start while an adapter is being closed.
@Suite(.timeLimit(.minutes(10))) struct ClosingTests {
    static let operations: [(String, @Sendable (Adapter, Adapter) async throws -> Void)] = [
        ("connect", { _ = try await CentralManager($0).connect(to: await $1.address, timeout: nil) }),
        (
            "connect to an absent device",
            { adapter, _ in
                _ = try await CentralManager(adapter).connect(
                    to: DeviceAddress(0xc0ff_ee00_0002, type: .random), timeout: nil)
            }
        ),
        ("scan", { adapter, _ in for try await _ in CentralManager(adapter).scan() {} }),
        ("advertise", { adapter, _ in _ = try await adapter.serve() }),
        ("beacon", { adapter, _ in _ = try await PeripheralManager(adapter).advertise(.beacon("b")) }),
        (
            "follow",
            { adapter, peer in
                let train = CentralManager(adapter).periodicAdvertising(of: await peer.address, set: 1)
                for try await _ in train {}
            }
        ),
    ]

    @Test(
        "an operation that starts while the adapter closes fails and does not delay the close",
        arguments: operations.indices, [false, true])
    func operationDuringCloseFails(index: Int, isConnecting: Bool) async throws {
        try await VirtualTestbed.run { bed in
            let (host, peer) = (try await bed.host("host"), try await bed.host("peer"))
            try await peer.serve()
            let absent = DeviceAddress(0xc0ff_ee00_0001, type: .random)
            // The close has to end this operation first, which takes a while.
            let before = Task(executorPreference: bed.loop) {
                if isConnecting {
                    _ = try await CentralManager(host).connect(to: absent, timeout: nil)
                } else {
                    for try await _ in CentralManager(host).scan() {}
                }
            }
            await bed.wait(.seconds(1))
            let closing = Task(executorPreference: bed.loop) { await host.close() }
            let operation = Self.operations[index].1
            let late = Task(executorPreference: bed.loop) { try await operation(host, peer) }
            await bed.wait(.seconds(30))
            #expect(await host.end == .adapter(.closed))
            if await host.end == nil { late.cancel() }
            await closing.value
            #expect(await late.result.failure as? BLEError == .adapter(.closed))
            _ = await before.result
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
