import BLE
import BLEAdvertising
import BLECore
import GATTServer
import HCISocket
import Testing

@testable import bletool

/// The connection parameters that `connection:` requests from centrals.
struct ServedParameterTests {
    private static let wanted = ConnectionParameters(
        interval: .milliseconds(100) ... .milliseconds(120), latency: 2, supervisionTimeout: .seconds(6))

    @Test("a central is asked for the parameters 5 s after its connection")
    func parametersAreRequested() async throws {
        let notes = try await run { bed, device in
            let before = try await device.connection.parameters.timing
            _ = await bed.loop.sleep(for: .milliseconds(4900))
            #expect(try await device.connection.parameters.timing == before)
            _ = await bed.loop.sleep(for: .seconds(1))
            let timing = try await device.connection.parameters.timing
            #expect(timing.map { Self.wanted.interval.contains($0.interval) } == true)
            #expect(timing?.latency == 2 && timing?.supervisionTimeout == .seconds(6))
        }
        #expect(notes.isEmpty, "\(notes)")
    }

    @Test("a central that refuses keeps its parameters, and is reported")
    func refusalIsReported() async throws {
        let notes = try await run(policy: .refuse) { bed, device in
            let before = try await device.connection.parameters.timing
            _ = await bed.loop.sleep(for: .seconds(10))
            #expect(try await device.connection.parameters.timing == before)
        }
        #expect(notes.count == 1)
        #expect(
            notes.first?.hasSuffix(
                "keeps its connection parameters: the peer refuses the connection parameters") == true)
    }

    @Test("a central that has gone is not asked")
    func absentCentralIsNotAsked() async throws {
        let notes = try await run { bed, device in
            await device.disconnect()
            _ = await bed.loop.sleep(for: .seconds(10))
        }
        #expect(notes.isEmpty, "\(notes)")
    }

    /// Runs `body` with a central that has just connected, and returns what the server has reported.
    private func run(
        policy: ParameterRequestPolicy? = nil,
        _ body: @escaping @Sendable (VirtualTestbed, Peripheral) async throws -> Void
    ) async throws -> [String] {
        let (messages, errors) = (Lock<[String]>([]), LineWriter(-1))
        errors.divert { line in messages.withLock { $0.append(line) } }
        let console = Console(isJSON: false, errors: errors)
        try await VirtualTestbed.run { bed in
            let manager = PeripheralManager(try await bed.adapter("server"))
            try await manager.publish([])
            let events = manager.events()
            _ = try await manager.advertise(
                AdvertisingRequest(try AdvertisingPlan(AdvertisingContent(), kind: .connectable)))
            let client = try await bed.adapter("client")
            if let policy { await client.setParameterRequestPolicy(policy) }
            let device = try await CentralManager(client).connect(to: await manager.adapter.address)
            let requests = ParameterRequests(wanted: Self.wanted, manager: manager, console: console)
            let asking = Task(executorPreference: bed.loop) {
                while let event = try await events.next(within: .seconds(1)) {
                    guard case .connected(let central, _) = event else { continue }
                    return await requests.request(of: central)
                }
            }
            try await body(bed, device)
            try await asking.value
        }
        return messages.withLock { $0 }
    }
}
