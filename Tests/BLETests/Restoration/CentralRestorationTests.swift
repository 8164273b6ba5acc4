import ATT
import BLECore
import GATTClient
import Glibc
import HCISocket
import SystemPackage
import Testing

@testable import BLE

/// The state that a central manager restores after its process was killed.
struct CentralRestorationTests {
    @Test func linkAndSubscriptionsAreRestored() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve(maximumLinks: 2)
            let peer = Peripheral.Identifier(await world.peer.address)
            let first = try await world.rise()
            var options = ConnectionOptions()
            options.mtu = ATTMTU(100)
            do {
                let central = try await world.manager(first)
                #expect(central.restored == RestoredCentralState())
                let device = try await central.connect(to: peer, options: options)
                let values = try await device.values(of: device.sample(), buffer: .newest(3))
                try await PeripheralManager(world.peer).update(world.peer.sampleHandle, to: [7])
                var iterator = values.makeAsyncIterator()
                #expect(try await iterator.next()?.value == [7])
                await world.die(first)
            }
            await world.bed.wait(.seconds(60))

            let second = try await world.rise()
            let central = try await world.manager(second)
            let restored = try #require(central.restored.peripherals.first)
            #expect(central.restored.peripherals.count == 1 && central.restored.problems.isEmpty)
            #expect(restored.id == peer && restored.state == .connected && restored.options == options)
            #expect(central.restored.known == [peer] && central.restored.scans.isEmpty)
            let subscription = try #require(restored.subscriptions.first)
            #expect(restored.subscriptions.count == 1 && subscription.characteristic == Sample.value)
            #expect(subscription.buffer == .newest(3) && !subscription.indications)
            // The link is established again without a call of the program.
            await world.bed.wait(.seconds(10))
            #expect(await central.state(of: peer) == .connected)
            // A value that arrives before the program subscribes is kept for it.
            try await PeripheralManager(world.peer).update(world.peer.sampleHandle, to: [8])
            await world.bed.wait(.seconds(5))
            let device = try await central.connect(to: peer, options: options)
            var values = try await device.values(of: subscription).makeAsyncIterator()
            #expect(try await values.next()?.value == [8])
            try await PeripheralManager(world.peer).update(world.peer.sampleHandle, to: [9])
            #expect(try await values.next()?.value == [9])
            // Only the program holds the link now, so its disconnect ends it.
            await device.disconnect()
            #expect(await central.state(of: peer) == .disconnected)
            await second.close()

            let third = try await world.rise()
            let last = try await world.manager(third)
            #expect(last.restored.peripherals.isEmpty && last.restored.known == [peer])
            #expect(await last.retrieveKnownPeripherals().map(\.id) == [peer])
        }
    }

    @Test("after a kill only flushed state is restored")
    func killKeepsOnlyFlushedState() async throws {
        try await LivesAndDeaths.run { world in
            let (flushed, pending) = (
                Peripheral.Identifier(DeviceAddress(1, type: .public)),
                Peripheral.Identifier(DeviceAddress(2, type: .public))
            )
            let host = try await world.rise()
            let central = try await world.manager(host)
            let kept = try #require(central.restoration?.kept)
            kept.change { $0.note(flushed, at: SampleBonds.noon) }
            try await kept.flush()
            kept.change { $0.note(pending, at: SampleBonds.noon) }
            await world.die(host)
            #expect(try await world.manager(world.rise()).restored.known == [flushed])
        }
    }

    @Test(
        "a released manager leaves no state with the adapter", .timeLimit(.minutes(2)))
    func releasedManagerLeavesNoState() async throws {
        try await LivesAndDeaths.run { world in
            let host = try await world.rise()
            weak var kept: KeptState<CentralState>?
            do {
                let central = try await world.manager(host)
                kept = central.restoration?.kept
                #expect(kept != nil)
                withExtendedLifetime(central) {}
            }
            // The task that closes the file is the last to release the state.
            while kept != nil { await Task.yield() }
            _ = try await world.manager(host)
        }
    }

    @Test("a discovered database is on the disk before the discovery returns")
    func discoveredDatabaseIsStoredBeforeReturn() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve(maximumLinks: 2)
            let first = try await world.rise(bonded: true)
            let manager = try await world.manager(first)
            let device = try await manager.connect(
                to: Peripheral.Identifier(await world.peer.address))
            try await device.pair()
            let found = try await device.discover()
            await world.die(first)
            withExtendedLifetime((manager, device)) {}

            let second = try await world.rise(bonded: true)
            let bonds = await second.security.options.bonds
            let bond = try #require(await second.bonds.first)
            let known = try await bonds.database(of: bond.id)?.database
            #expect(found.hash != nil && known?.hash == found.hash)
            #expect(known?.services.map(\.handle) == found.services.map(\.handle))
        }
    }

    @Test("a discovery fails when its database cannot be stored, and the next one stores it")
    func discoveryFailsOnFullDisk() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve(maximumLinks: 2)
            let isFull = Lock(false)
            var disk = Disk()
            disk.before = { step throws(Errno) in
                if case .create = step, isFull.withLock({ $0 }) { throw .noSpace }
            }
            let first = try await world.rise(bonded: true, disk)
            let manager = try await world.manager(first)
            let device = try await manager.connect(to: Peripheral.Identifier(await world.peer.address))
            try await device.pair()
            isFull.withLock { $0 = true }
            let problem = await failure { () throws(BLEError) in _ = try await device.discover() }
            guard case .bonds(.system(.noSpace, _)) = problem else {
                Issue.record("\(String(describing: problem))")
                return
            }

            isFull.withLock { $0 = false }
            let found = try await device.discover()
            await world.die(first)
            withExtendedLifetime((manager, device)) {}
            let second = try await world.rise(bonded: true)
            let bond = try #require(await second.bonds.first)
            let known = try await second.security.options.bonds.database(of: bond.id)
            #expect(found.hash != nil && known?.database.hash == found.hash)
        }
    }

    @Test func pendingConnectionIsRestored() async throws {
        try await LivesAndDeaths.run { world in
            let peer = Peripheral.Identifier(await world.peer.address)
            let first = try await world.rise()
            let waiting = world.bed.task {
                _ = try await world.manager(first).connect(to: peer, timeout: nil)
            }
            await world.bed.wait(.seconds(5))
            await world.die(first)
            let error = await waiting.result
            #expect(throws: BLEError.adapter(.hungUp(.port))) { try error.get() }

            // The process is killed again before the program connects.
            let second = try await world.rise()
            #expect(try await world.manager(second).restored.peripherals == [RestoredPeripheral(peer)])
            await world.die(second)

            let third = try await world.rise()
            let central = try await world.manager(third)
            #expect(central.restored.peripherals == [RestoredPeripheral(peer)])
            await world.bed.wait(.seconds(5))
            #expect(await central.state(of: peer) == .connecting)
            try await world.peer.serve()
            await world.bed.wait(.seconds(10))
            #expect(await central.state(of: peer) == .connected)
            // The program dismisses the restored connection.
            try await central.dismissRestored(peer)
            await world.bed.wait(.seconds(5))
            #expect(await central.state(of: peer) == .disconnected)
            await world.die(third)
            #expect(try await world.manager(world.rise()).restored == RestoredCentralState())
        }
    }

    @Test func maintainedLinkIsRestoredUntilLoopEnds() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve(maximumLinks: 2)
            let peer = Peripheral.Identifier(await world.peer.address)
            for life in 0..<4 {
                let host = try await world.rise()
                let central = try await world.manager(host)
                #expect(central.restored.peripherals.map(\.id) == (life == 0 ? [] : [peer]))
                #expect(central.restored.peripherals.flatMap(\.subscriptions).count == (life == 0 ? 0 : 1))
                let values = Lock<[[UInt8]]>([])
                let following = world.bed.task {
                    try await follow(peer, central) { value in values.withLock { $0.append(value) } }
                }
                await world.bed.wait(.seconds(20))
                try await PeripheralManager(world.peer).update(world.peer.sampleHandle, to: [UInt8(life)])
                await world.bed.wait(.seconds(1))
                #expect(values.withLock { $0 } == [[UInt8(life)]])
                switch life {
                case 0: await world.die(host)
                case 1:
                    // An orderly end after which the next process continues.
                    central.keepForNextStart()
                    following.cancel()
                    _ = await following.result
                    await host.close()
                case 2: await host.close()
                default:
                    following.cancel()
                    _ = await following.result
                    await world.bed.wait(.seconds(1))
                    await host.close()
                }
                _ = await following.result
                await world.bed.wait(.seconds(60))
            }
            #expect(try await world.manager(world.rise()).restored.peripherals.isEmpty)
        }
    }

    @Test func scanIsRestoredWithItsResults() async throws {
        try await LivesAndDeaths.run { world in
            var options = ScanOptions()
            options.name = "pe*"
            options.repeats = .once
            let first = try await world.rise()
            do {
                let central = try await world.manager(first)
                let scan = central.scan(options)
                // A scan that was left is not restored, and neither is the scan for one device.
                var other = central.scan().makeAsyncIterator()
                try await world.peer.serve()
                _ = try await other.next()
                _ = try await central.first(within: .seconds(5))
                var iterator = scan.makeAsyncIterator()
                #expect(try await iterator.next()?.name == "peer")
                let left = central.scan(ScanOptions.named("x"))
                let leaving = world.bed.task {
                    for try await _ in left {}
                }
                await world.bed.wait(.seconds(1))
                leaving.cancel()
                _ = await leaving.result
                // The end of the scan is also written to the disk without this call; here the test waits for it.
                try await central.restoration?.kept.flush()
                await world.die(first)
                withExtendedLifetime((scan, other)) {}
            }
            let second = try await world.rise()
            let central = try await world.manager(second)
            #expect(central.restored.scans == [options, ScanOptions()])
            await world.bed.wait(.seconds(5))
            // The program continues the scan by its options, and the devices found so far are delivered at once.
            let scan = central.scan(options)
            #expect(scan.dropped == 0)
            var iterator = scan.makeAsyncIterator()
            #expect(try await iterator.next()?.name == "peer")
            try await central.dismissRestored()
            await world.die(second)
            withExtendedLifetime(scan) {}
            #expect(try await world.manager(world.rise()).restored.scans == [options])
        }
    }

    @Test func restorationNameIsValidAndExclusive() async throws {
        try await LivesAndDeaths.run { world in
            let host = try await world.rise()
            let noFolder = await failure { () throws(BLEError) in
                _ = try await CentralManager(host, restoring: "gateway")
            }
            #expect(noFolder == .restoration(.noFolder))
            for name in ["", ".", "..", "a/b", "a b", "ä", "a\u{0}", String(repeating: "a", count: 65)] {
                let problem = await failure { () throws(BLEError) in
                    _ = try await CentralManager(host, restoring: name, in: world.folder.path)
                }
                #expect(problem == .restoration(.name(name)))
            }
            do {
                let central = try await world.manager(host)
                let second = await failure { () throws(BLEError) in _ = try await world.manager(host) }
                #expect(second == .restoration(.inUse("gateway", process: getpid())))
                #expect(
                    "\(RestorationError.inUse("gateway", process: 7))"
                        == "gateway is restored by process 7 already")
                // A manager with another name has a state of its own.
                let other = try await CentralManager(
                    host, restoring: "com.example.Gateway-2", in: world.folder.path)
                #expect(other.restored == central.restored)
            }
            await world.die(host)
            _ = try await world.manager(world.rise())
        }
    }

    @Test func fullDiskFailsOperations() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve(maximumLinks: 2)
            let peer = Peripheral.Identifier(await world.peer.address)
            let host = try await world.rise()
            let isFull = Lock(false)
            let disk = Disk { step throws(Errno) in
                if case .create = step, isFull.withLock({ $0 }) { throw .noSpace }
            }
            let central = try await world.manager(host, disk)
            let device = try await central.connect(to: peer)
            isFull.withLock { $0 = true }
            let file = "\(world.folder.path)/restoring/gateway.central.new"
            let full = BLEError.restoration(.state(.system(.noSpace, during: "\(Disk.Step.create(file))")))
            let other = Peripheral.Identifier(DeviceAddress(0xc011_2233_4455, type: .random))
            let connecting = await failure { () throws(BLEError) in
                _ = try await central.connect(to: other)
            }
            #expect(connecting == full)
            #expect(await central.state(of: other) == .disconnected)
            let sample = try await device.sample()
            let subscribing = await failure { () throws(BLEError) in
                _ = try await device.values(of: sample)
            }
            #expect(subscribing == full)
            let scan = central.scan()
            let scanning = await failure { () throws(BLEError) in
                for try await _ in scan {}
            }
            #expect(scanning == full)
            let maintained = central.maintain(other)
            let maintaining = await failure { () throws(BLEError) in
                for try await _ in maintained {}
            }
            #expect(maintaining == full)
            // Existing links continue, and the state is written again as soon as the disk has room.
            isFull.withLock { $0 = false }
            #expect(try await device.read(sample) == [1])
            _ = try await device.values(of: sample)
            await world.die(host)
            let restored = try await world.manager(world.rise()).restored
            #expect(restored.peripherals.map(\.id) == [peer] && restored.scans.isEmpty)
        }
    }
}

extension ScanOptions {
    static func named(_ name: String) -> ScanOptions {
        var options = ScanOptions()
        options.name = name
        return options
    }
}

extension Adapter {
    /// The handle of the value that `serve` serves.
    var sampleHandle: AttributeHandle {
        server.gatt.database.valueHandle(of: Sample.value) ?? .none
    }
}

/// Follows the value of a device that `serve` serves, from link to link.
private func follow(
    _ peer: Peripheral.Identifier, _ central: CentralManager, _ take: @Sendable ([UInt8]) -> Void
) async throws {
    for try await session in central.maintain(peer) {
        let sample = try await session.sample()
        let values = try await session.values(of: sample)
        do {
            for try await value in values { take(value.value) }
        } catch {
            guard case .disconnected = error else { throw error }
        }
    }
}
