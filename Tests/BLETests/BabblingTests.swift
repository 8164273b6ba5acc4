import BLEAdvertising
import BLECore
import HCISocket
import Testing

@testable import BLE

/// Tests of a host whose controller answers at random: every operation ends in time, and fails only with a
/// `BLEError`.
@Suite(.timeLimit(.minutes(10))) struct BabblingTests {
    /// The limit of a whole test by the loop's clock, far longer than its operations may take.
    private static let limit = Duration.seconds(1000)

    @Test(arguments: 0..<UInt64(60)) func openingEndsInTime(seed: UInt64) async throws {
        try await run(seed: seed, babblesAtOnce: true) { adapter, _ in
            _ = try await CentralManager(adapter).first(within: .seconds(5)) { _ in true }
        }
    }

    @Test(arguments: 0..<UInt64(60)) func scanningEndsInTime(seed: UInt64) async throws {
        try await run(seed: seed) { adapter, _ in
            for _ in 0..<3 {
                _ = try await CentralManager(adapter).first(within: .seconds(70)) { $0.name == "absent" }
            }
        }
    }

    @Test(arguments: 0..<UInt64(60)) func advertisingEndsInTime(seed: UInt64) async throws {
        try await run(seed: seed) { adapter, _ in
            let advertising = try await Self.advertise("Babbler", on: adapter)
            try await advertising.update(try Self.request("Twaddler"))
            await advertising.stop()
        }
    }

    @Test(arguments: 0..<UInt64(60)) func connectingEndsInTime(seed: UInt64) async throws {
        try await run(seed: seed) { adapter, lamp in
            let device = try await CentralManager(adapter).connect(to: lamp, timeout: .seconds(30))
            _ = try await device.discover()
            _ = try await device.connection.remoteVersion()
            await device.disconnect()
        }
    }

    /// Runs `body` with an adapter whose controller answers one to ten of ten commands at random, depending on the
    /// last digit of the seed.
    private func run(
        seed: UInt64, babblesAtOnce: Bool = false,
        _ body: @escaping @Sendable (Adapter, DeviceAddress) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run(seed: seed) { bed in
            let (loop, options) = (bed.loop, AdapterOptions(loop: bed.loop))
            let other = try await bed.adapter("other")
            let lamp = await other.address
            _ = try await Self.advertise("Lamp", on: other)
            let port = BabblingPort(await bed.air.attach(), on: loop, seed: seed)
            let share = 1 + Int(seed % 10)
            if babblesAtOnce { port.babble(about: share) }
            let outcome = await failure { () throws(BLEError) in
                try await withDeadline(
                    Self.limit, on: loop, orThrow: .timedOut(.operation, after: Self.limit)
                ) {
                    () throws(BLEError) in
                    let adapter = try await Adapter.open(on: port, options: options)
                    port.babble(about: share)
                    let result = await Self.result { try await body(adapter, lamp) }
                    await adapter.close()
                    try result.get()
                }
            }
            #expect(outcome != .timedOut(.operation, after: Self.limit))
        }
    }

    private static func request(_ name: String) throws -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.name = name
        return AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable))
    }

    private static func advertise(_ name: String, on adapter: Adapter) async throws -> Advertising {
        try await PeripheralManager(adapter).advertise(try request(name), maximumLinks: 2)
    }

    /// Returns the error that `body` throws. An error other than `BLEError` fails the test.
    private static func result(_ body: () async throws -> Void) async -> Result<Void, BLEError> {
        do {
            return .success(try await body())
        } catch let error as BLEError {
            return .failure(error)
        } catch {
            Issue.record(error)
            return .success(())
        }
    }
}
