import ATT
import BLECore
import GATTClient
import GATTServer
import HCISocket
import Testing

@testable import BLE

/// Subscriptions that are kept for the next process, and those that are not.
struct RestoredSubscriptionTests {
    /// Kills the process of `host`, and returns the subscriptions that the next process finds.
    private static func subscriptions(
        after host: Adapter, in world: LivesAndDeaths
    ) async throws -> [RestoredSubscription] {
        await world.die(host)
        let next = try await world.rise()
        let restored = try await world.manager(next).restored.peripherals
        await world.die(next)
        #expect(restored.count == 1)
        return restored.flatMap(\.subscriptions)
    }

    @Test func lastOfTwoStreamsEndsKeptSubscription() async throws {
        for leaving in 1...2 {
            try await LivesAndDeaths.run { world in
                try await world.peer.serve()
                let host = try await world.rise()
                let central = try await world.manager(host)
                let device = try await central.connect(to: Peripheral.Identifier(await world.peer.address))
                let sample = try await device.sample()
                let streams = [try await device.values(of: sample), try await device.values(of: sample)]
                for stream in streams.prefix(leaving) { try await world.leave(stream, of: central) }
                let found = try await Self.subscriptions(after: host, in: world)
                #expect(found.map(\.characteristic) == (leaving == 1 ? [Sample.value] : []))
                withExtendedLifetime(streams) {}
            }
        }
    }

    @Test func streamEndedByLinkFailureStaysKept() async throws {
        try await LivesAndDeaths.run { world in
            let port = AlteringPort(await world.bed.air.attach(), on: world.bed.loop)
            let silent = try await world.bed.host("silent", on: port)
            try await silent.serve()
            let host = try await world.rise()
            let central = try await world.manager(host)
            let links = central.maintain(Peripheral.Identifier(await silent.address))
            for try await device in links {
                let sample = try await device.sample()
                let values = try await device.values(of: sample)
                port.alter(silencing(.readResponse))
                let silence = BLEError.timedOut(.response, after: .seconds(30))
                let asked = await failure { () throws(BLEError) in _ = try await device.read(sample) }
                #expect(asked == silence)
                let end = await failure { () throws(BLEError) in for try await _ in values {} }
                #expect(end == silence)
                try await central.restoration?.kept.flush()
                let kept = central.restoration?.kept.value.links.values.flatMap(\.subscriptions)
                #expect(kept?.map(\.characteristic) == [Sample.value])
                break
            }
        }
    }

    @Test("a stream that overflows keeps its subscription until the owner leaves it")
    func overflowKeepsSubscriptionUntilStreamIsLeft() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve()
            let host = try await world.rise()
            let central = try await world.manager(host)
            let device = try await central.connect(to: Peripheral.Identifier(await world.peer.address))
            let sample = try await device.sample()
            let peripheral = PeripheralManager(world.peer)
            func kept() async throws -> [BluetoothUUID]? {
                await world.bed.wait(.seconds(1))
                try await central.restoration?.kept.flush()
                return central.restoration?.kept.value.links.values.flatMap(\.subscriptions).map(
                    \.characteristic)
            }
            let slow = try await device.values(of: sample, buffer: .overflow(limit: 1))
            for value in 0..<3 { try await peripheral.update(sample.valueHandle, to: [UInt8(value)]) }
            #expect(try await kept() == [Sample.value])
            let end = await failure { () throws(BLEError) in for try await _ in slow {} }
            #expect(end == .overflow(.values(1)))
            let next = try await device.values(of: sample, buffer: .overflow(limit: 1))
            try await world.leave(next, of: central)
            #expect(try await kept() == [])
        }
    }

    @Test func unclaimedSubscriptionsCanBeDismissed() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve(maximumLinks: 2)
            let peer = Peripheral.Identifier(await world.peer.address)
            let first = try await world.rise()
            do {
                let device = try await world.manager(first).connect(to: peer)
                let sample = try await device.sample()
                let streams = [
                    try await device.values(of: sample),
                    try await device.values(of: sample, buffer: .newest(3)),
                    try await device.values(of: sample, buffer: .newest(4)),
                ]
                await world.die(first)
                withExtendedLifetime(streams) {}
            }
            await world.bed.wait(.seconds(60))

            let second = try await world.rise()
            let central = try await world.manager(second)
            await world.bed.wait(.seconds(10))
            let device = try await central.connect(to: peer)
            // Subscriptions that the program has requested are kept, even one that it left and requests again.
            let sample = try await device.sample()
            let wanted = try await device.values(of: sample)
            try await world.leave(try await device.values(of: sample, buffer: .newest(3)), of: central)
            try await central.dismissRestored(peer)
            let later = try await device.values(of: sample, buffer: .newest(3))
            #expect(await central.state(of: peer) == .connected)
            let found = try await Self.subscriptions(after: second, in: world)
            #expect(found.map(\.buffer) == [.standard, .newest(3)])
            withExtendedLifetime((wanted, later)) {}
        }
    }

    @Test(
        "an indication of a restored stream is confirmed when it is taken from the stream that takes it over")
    func takenOverIndicationIsConfirmedWhenTaken() async throws {
        try await LivesAndDeaths.run { world in
            let server = PeripheralManager(world.peer)
            try await server.publish([
                GATTService(
                    Sample.service,
                    characteristics: [Sample.value, Sample.other].map {
                        GATTCharacteristic($0, properties: [.indicate], value: .stored([1]))
                    })
            ])
            let advertising = try await world.peer.advertise(maximumLinks: 2)
            let peer = Peripheral.Identifier(await world.peer.address)
            let first = try await world.rise()
            do {
                let device = try await world.manager(first).connect(to: peer)
                let stream = try await device.values(
                    of: try await device.indicating(), indications: true, confirming: .whenTaken)
                await world.die(first)
                withExtendedLifetime(stream) {}
            }
            await world.bed.wait(.seconds(60))

            let second = try await world.rise()
            let central = try await world.manager(second)
            await world.bed.wait(.seconds(10))
            let device = try await central.connect(to: peer)
            let all = try await device.indicating()
            let isConfirmed = Lock(false)
            let updating = world.bed.task {
                let reached = try await server.update(all[0].valueHandle, to: [9])
                #expect(reached.count == 1)
                isConfirmed.withLock { $0 = true }
            }
            await world.bed.wait(.seconds(5))
            let stream = try await device.values(of: all, indications: true, confirming: .whenTaken)
            await world.bed.wait(.seconds(5))
            #expect(!isConfirmed.withLock { $0 })
            #expect(try await stream.next(within: .zero)?.value == [9])
            try await updating.value
            #expect(isConfirmed.withLock { $0 })
            await world.die(second)
            await advertising.stop()
        }
    }

    @Test func dismissingEndsUnclaimedSubscription() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve(maximumLinks: 2)
            let peer = Peripheral.Identifier(await world.peer.address)
            let server = PeripheralManager(world.peer)
            let first = try await world.rise()
            do {
                let device = try await world.manager(first).connect(to: peer)
                let values = try await device.values(of: device.sample())
                await world.die(first)
                withExtendedLifetime(values) {}
            }
            await world.bed.wait(.seconds(60))

            let second = try await world.rise()
            let central = try await world.manager(second)
            await world.bed.wait(.seconds(10))
            let device = try await central.connect(to: peer)
            await world.bed.wait(.seconds(1))
            #expect(await server.hasSubscribers(world.peer.sampleHandle))
            try await central.dismissRestored()
            await world.bed.wait(.seconds(1))
            #expect(await !server.hasSubscribers(world.peer.sampleHandle))
            #expect(await central.state(of: peer) == .connected)
            #expect(try await Self.subscriptions(after: second, in: world).isEmpty)
            withExtendedLifetime(device) {}
        }
    }
}

extension Peripheral {
    fileprivate func indicating() async throws(BLEError) -> [RemoteCharacteristic] {
        let database = try await discover()
        return [Sample.value, Sample.other].flatMap { database.characteristics($0) }
    }
}

extension LivesAndDeaths {
    /// Leaves a stream, and waits until the change is on the disk.
    fileprivate func leave(
        _ stream: BoundedStream<ReceivedValue>, of central: CentralManager
    ) async throws {
        let leaving = bed.task {
            for try await _ in stream {}
        }
        await bed.wait(.seconds(1))
        leaving.cancel()
        _ = await leaving.result
        await bed.wait(.seconds(1))
        try await central.restoration?.kept.flush()
    }
}
