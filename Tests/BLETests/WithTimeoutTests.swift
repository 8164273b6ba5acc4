import BLECore
import Testing
import VirtualController

@testable import BLE

/// Operations with a time limit of the caller.
@Suite(.timeLimit(.minutes(10))) struct WithTimeoutTests {
    private struct Failure: Error {}

    @Test("an operation that takes longer than its limit throws the limit, and the link continues")
    func limitIsThrown() async throws {
        try await VirtualTestbed.run { bed in
            let server = PeripheralManager(try await bed.adapter("server"))
            try await server.publish([
                GATTService(
                    0x180f,
                    characteristics: [
                        GATTCharacteristic(
                            0x2a19, properties: .read,
                            onRead: { request in
                                Task(executorPreference: bed.loop) {
                                    _ = await bed.loop.sleep(for: .seconds(8))
                                    await server.complete(request.pending, with: .success([7]))
                                }
                                return .later
                            })
                    ])
            ])
            var content = AdvertisingContent()
            content.name = "Slow"
            try await server.withAdvertising(content) {
                let central = CentralManager(try await bed.adapter("central"))
                let found = try await central.first(within: .seconds(5)) { $0.name == "Slow" }
                try await central.withConnection(to: try #require(found.address)) { device in
                    let began = bed.loop.now
                    await #expect(throws: BLEError.timedOut(.operation, after: .seconds(5))) {
                        try await withTimeout(.seconds(5), on: bed.loop) {
                            try await device.read(.batteryLevel)
                        }
                    }
                    #expect(began.duration(until: bed.loop.now) < .seconds(6))
                    // The response of the cancelled request comes first.
                    #expect(try await device.read(.batteryLevel).percent == 7)
                    let level = try await withTimeout(.seconds(10), on: bed.loop) {
                        try await device.read(.batteryLevel)
                    }
                    #expect(level.percent == 7)
                }
            }
        }
    }

    @Test("another limit that passes within the operation is not taken for the caller's")
    func innerLimitIsThrown() async throws {
        try await VirtualTestbed.run { bed in
            let inner = BLEError.timedOut(.operation, after: .seconds(3))
            let early = await failure { () throws(BLEError) in
                _ = try await untilDeadline(.seconds(5), on: bed.loop) { () throws(BLEError) in
                    try await withDeadline(.seconds(3), on: bed.loop, orThrow: inner) { () throws(BLEError) in
                        _ = await bed.loop.sleep(for: .seconds(60))
                        throw BLEError.cancelled
                    }
                }
            }
            #expect(early == inner)
            let outcome: Void? = try await untilDeadline(.seconds(5), on: bed.loop) { () throws(BLEError) in
                _ = await bed.loop.sleep(for: .seconds(60))
                throw BLEError.cancelled
            }
            #expect(outcome == nil)
        }
    }

    @Test("an error of the operation is thrown as it is")
    func errorsAreThrown() async throws {
        try await VirtualTestbed.run { bed in
            await #expect(throws: Failure.self) {
                try await withTimeout(.seconds(5), on: bed.loop) { throw Failure() }
            }
            await #expect(throws: BLEError.busy(DeviceAddress(1, type: .public))) {
                try await withTimeout(.seconds(5), on: bed.loop) {
                    throw BLEError.busy(DeviceAddress(1, type: .public))
                }
            }
        }
    }

    @Test("an operation whose task is cancelled ends with its own error")
    func cancellationIsThrown() async throws {
        try await VirtualTestbed.run { bed in
            let task = Task(executorPreference: bed.loop) {
                try await withTimeout(.seconds(5), on: bed.loop) {
                    guard await bed.loop.sleep(for: .seconds(3)) else { throw Failure() }
                }
            }
            _ = await bed.loop.sleep(for: .seconds(1))
            task.cancel()
            await #expect(throws: Failure.self) { try await task.value }
        }
    }
}
