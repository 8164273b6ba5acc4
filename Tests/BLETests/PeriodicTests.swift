import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Periodic trains on the virtual air.
struct PeriodicTests {
    /// Creates a host that sends a train with an interval of 100 ms and set number 5.
    private func sender(_ hosts: ScanHosts, _ data: [UInt8]) async throws -> Adapter {
        let sender = try await hosts.host(named: "sender", .init(extended: .init()))
        _ = try await PeripheralManager(sender).advertise(
            try .train(PeriodicAdvertisingTrain(data, every: .milliseconds(100)), sid: 5))
        return sender
    }

    private func failure(of stream: BoundedStream<PeriodicAdvertisement>) async -> BLEError? {
        await BLETests.failure { () throws(BLEError) in for try await _ in stream {} }
    }

    @Test("a train is found by its advertising, followed, and released with its stream")
    func trainIsFollowedAndReleased() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await sender(hosts, [2, 1, 6])
            var options = ScanOptions()
            options.isPassive = true
            let arrived = try await hosts.receive(options, for: .seconds(1))
            let announced = try #require(arrived.first { $0.report.sid == 5 })
            #expect(announced.report.periodicInterval?.duration == .milliseconds(100))
            hosts.forget()
            var packets: [PeriodicAdvertisement] = []
            let address = await sender.address
            for try await packet in hosts.central.periodicAdvertising(of: address, set: 5) {
                packets.append(packet)
                if packets.count == 5 { break }
            }
            #expect(Set(packets.map(\.fields.bytes)) == [[2, 1, 6]])
            #expect(packets.allSatisfy { $0.address == address && $0.set == 5 && !$0.isTruncated })
            for (one, next) in zip(packets, packets.dropFirst()) {
                #expect(one.received.duration(until: next.received) == .milliseconds(100))
            }
            await hosts.scanner.untilRest(.changes)
            _ = await hosts.loop.sleep(for: .milliseconds(10))
            // Scan parameters, Create Sync, scan on, scan off, Terminate Sync.
            #expect(hosts.commands.map { $0.prefix(4) } == ["4120", "4420", "4220", "4220", "4620"])
            #expect(hosts.commands[1].hasPrefix("44200e" + "00" + "05" + "01"))
            await sender.close()
        }
    }

    @Test("long data arrive in several reports and are delivered as one packet")
    func longDataArriveAsOnePacket() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let long = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
            let sender = try await sender(hosts, long)
            for try await packet in hosts.central.periodicAdvertising(of: await sender.address, set: 5) {
                #expect(packet.fields.bytes == long)
                break
            }
            await sender.close()
        }
    }

    @Test("two streams share a train, which is released with the last one")
    func streamsShareTrain() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await sender(hosts, [1])
            let address = await sender.address
            let (one, two) = (
                hosts.central.periodicAdvertising(of: address, set: 5),
                hosts.central.periodicAdvertising(of: address, set: 5)
            )
            for try await _ in one { break }
            let stopping = Task(executorPreference: hosts.loop) { for try await _ in two { break } }
            _ = await stopping.result
            _ = await hosts.loop.sleep(for: .milliseconds(10))
            #expect(hosts.commands.filter { $0.hasPrefix("4420") }.count == 1)
            await sender.close()
        }
    }

    @Test("a train that falls silent is reported as lost")
    func silentTrainIsLost() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await sender(hosts, [1])
            let address = await sender.address
            var options = PeriodicSyncOptions()
            options.timeout = .seconds(1)
            let stream = hosts.central.periodicAdvertising(of: address, set: 5, options: options)
            for try await _ in stream { break }
            let again = hosts.central.periodicAdvertising(of: address, set: 5, options: options)
            let waiting = Task(executorPreference: hosts.loop) { await failure(of: again) }
            _ = await hosts.loop.sleep(for: .seconds(1))
            await sender.close()
            #expect(await waiting.value == .syncLost(address, set: 5))
        }
    }

    @Test("the search for a missing train times out, and the next train is found")
    func missingTrainTimesOut() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await sender(hosts, [1])
            let address = await sender.address
            var options = PeriodicSyncOptions()
            options.establishing = .seconds(3)
            let before = hosts.loop.now
            let missing = hosts.central.periodicAdvertising(of: address, set: 9, options: options)
            let there = hosts.central.periodicAdvertising(of: address, set: 5, options: options)
            let waiting = Task(executorPreference: hosts.loop) { await failure(of: missing) }
            #expect(await waiting.value == .timedOut(.synchronization, after: .seconds(3)))
            #expect(before.duration(until: hosts.loop.now) >= .seconds(3))
            for try await packet in there {
                #expect(packet.set == 5)
                break
            }
            await sender.close()
        }
    }

    @Test("a synchronization that is not established is retried within the time limit")
    func failedSynchronizationIsRetried() async throws {
        try await ScanHosts.run { hosts in
            let port = ControlledPort(await hosts.air.attach(.init(extended: .init())), on: hosts.loop)
            let adapter = try await Adapter.open(on: port, options: AdapterOptions(loop: hosts.loop))
            // The test answers for the controller, which does not search and so refuses the cancellation.
            port.play { command in
                guard command.opcode == .lePeriodicAdvertisingCreateSync else { return nil }
                return [CommandStatus(status: .success, opcode: command.opcode).packet]
            }
            var options = PeriodicSyncOptions()
            options.establishing = .seconds(3)
            let address = DeviceAddress(0xc000_0000_0001, type: .random)
            let stream = CentralManager(adapter).periodicAdvertising(of: address, set: 5, options: options)
            let before = hosts.loop.now
            let waiting = Task(executorPreference: hosts.loop) { await failure(of: stream) }
            for attempts in 1...3 {
                _ = await hosts.loop.sleep(for: .milliseconds(500))
                #expect(port.opcodes.count { $0 == .lePeriodicAdvertisingCreateSync } == attempts)
                let failed = LEPeriodicAdvertisingSyncEstablished(
                    status: .connectionFailedToBeEstablished,
                    train: PeriodicTrain(
                        sync: SyncHandle(rawValue: 0), sid: 5, advertiser: HCIAddress(address), phy: .le1M,
                        interval: ConnectionInterval(rawValue: 80)))
                port.emit(failed.packet)
            }
            #expect(await waiting.value == .timedOut(.synchronization, after: .seconds(3)))
            #expect(before.duration(until: hosts.loop.now) >= .seconds(3))
            await adapter.close()
        }
    }

    @Test("unsupported or out-of-range requests are refused")
    func invalidRequestsAreRefused() async throws {
        let address = DeviceAddress(1, type: .random)
        try await ScanHosts.run { hosts in
            #expect(
                await failure(of: hosts.central.periodicAdvertising(of: address, set: 1))
                    == .adapter(.unsupported(.periodicAdvertising)))
            #expect(
                await failure(of: hosts.central.periodicAdvertising(of: address, set: 16))
                    == .outOfRange(.advertisingSetID, allowed: 0...15, value: 16))
            var options = PeriodicSyncOptions()
            options.skip = 500
            #expect(
                await failure(of: hosts.central.periodicAdvertising(of: address, set: 1, options: options))
                    == .outOfRange(.skippedEvents, allowed: 0...499, value: 500))
        }
    }

    @Test("a train on an unsupported PHY is refused, and running scans continue")
    func unsupportedPHYIsRefused() async throws {
        try await ScanHosts.run(.init(extended: .init(phys: [.le2M]))) { hosts in
            let lamp = try await hosts.advertiser(named: "Lamp")
            let scan = hosts.central.scan()
            let following = Task(executorPreference: hosts.loop) {
                for try await found in scan where found.name == "Late" { return true }
                return false
            }
            var options = PeriodicSyncOptions()
            options.phys = [.leCoded]
            let refused = hosts.central.periodicAdvertising(of: await lamp.address, set: 1, options: options)
            #expect(
                await failure(of: refused) == .adapter(.unsupported(.scanning(on: .leCoded))))
            options.phys = []
            let nowhere = hosts.central.periodicAdvertising(of: await lamp.address, set: 1, options: options)
            #expect(
                await failure(of: nowhere)
                    == .invalidRequest(.noPHY))
            _ = try await hosts.advertiser(named: "Late")
            #expect(try await following.value)
        }
    }

    @Test("a search that fails because scanning is refused does not end the next search")
    func refusedScanDoesNotEndNextSearch() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await sender(hosts, [2, 1, 6])
            let address = await sender.address
            let port = ControlledPort(await hosts.air.attach(.init(extended: .init())), on: hosts.loop)
            let adapter = try await Adapter.open(on: port, options: AdapterOptions(loop: hosts.loop))
            let central = CentralManager(adapter)
            port.forget()
            port.play { command in
                guard command.opcode == .leSetExtendedScanParameters,
                    port.opcodes.count(where: { $0 == command.opcode }) == 1
                else { return nil }
                return [CommandComplete(command.opcode, status: .memoryCapacityExceeded).packet]
            }
            let first = central.periodicAdvertising(of: address, set: 6)
            let second = central.periodicAdvertising(of: address, set: 5)
            #expect(
                await failure(of: first)
                    == .hci(.memoryCapacityExceeded, command: .leSetExtendedScanParameters))
            for try await packet in second {
                #expect(packet.fields.bytes == [2, 1, 6])
                break
            }
            await adapter.close()
            await sender.close()
        }
    }

    @Test("the time limit of a search that was ended during a reset does not end the next search")
    func staleLimitDoesNotEndNextSearch() async throws {
        try await ScanHosts.run { hosts in
            let port = ControlledPort(await hosts.air.attach(.init(extended: .init())), on: hosts.loop)
            let adapter = try await Adapter.open(on: port, options: AdapterOptions(loop: hosts.loop))
            let sender = try await hosts.host(named: "sender", .init(extended: .init()))
            let central = CentralManager(adapter)
            let address = await sender.address
            var options = PeriodicSyncOptions()
            options.establishing = .seconds(10)
            let first = central.periodicAdvertising(of: address, set: 1, options: options)
            let leaving = Task(executorPreference: hosts.loop) { await failure(of: first) }
            options.establishing = nil
            let second = central.periodicAdvertising(of: address, set: 5, options: options)
            let following = Task(executorPreference: hosts.loop) {
                for try await packet in second { return packet.fields.bytes }
                return []
            }
            _ = await hosts.loop.sleep(for: .seconds(1))
            // The first consumer ends while the controller is set up.
            port.play { command in
                if command.opcode == .readLocalVersionInformation { leaving.cancel() }
                return nil
            }
            port.emit(HardwareError(hardwareCode: 1).packet)
            _ = await hosts.loop.sleep(for: .seconds(20))
            _ = try await PeripheralManager(sender).advertise(
                try .train(PeriodicAdvertisingTrain([2, 1, 6], every: .milliseconds(100)), sid: 5))
            #expect(try await following.value == [2, 1, 6])
            await adapter.close()
        }
    }

    @Test("reports are reassembled; data that are too long or incomplete are marked as truncated")
    func assemblerJoinsReports() {
        typealias Report = LEPeriodicAdvertisingReport
        func report(_ data: [UInt8], _ status: Report.DataStatus) -> Report {
            Report(sync: SyncHandle(rawValue: 1), rssi: -50, dataStatus: status, data: data)
        }
        var assembler = PeriodicAssembler()
        func take(_ data: [UInt8], _ status: Report.DataStatus) -> [[UInt8]: Bool] {
            Dictionary(
                assembler.take(report(data, status)).map { ($0.data, $0.isTruncated) },
                uniquingKeysWith: { $1 })
        }
        #expect(take([1], .moreToCome) == [:])
        #expect(take([2], .complete) == [[1, 2]: false])
        #expect(take([3], .moreToCome) == [:])
        #expect(take([4], .truncated) == [[3, 4]: true])
        #expect(take([5], .complete) == [[5]: false])
        for number in 0..<7 as Range<UInt8> {
            #expect(take([UInt8](repeating: number, count: 247), .moreToCome) == [:])
        }
        let long = assembler.take(report([], .complete))
        #expect(long.map(\.data.count) == [1650] && long.map(\.isTruncated) == [true])
        // The end of the first data is lost.
        #expect(take([1, 2], .moreToCome) == [:])
        #expect(take([3, 4], .moreToCome) == [:])
        #expect(take([1, 2], .moreToCome) == [[1, 2, 3, 4]: true])
        #expect(take([3, 4], .moreToCome) == [:])
        #expect(take([5], .complete) == [[1, 2, 3, 4, 5]: false])
    }
}
