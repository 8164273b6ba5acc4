import BLEAdvertising
import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// The sending side of periodic advertising.
struct PeriodicTrainTests {
    private static let step = Duration.milliseconds(100)

    /// Returns the commands that the scanner's host, here the sender, has sent since the last call.
    private func takeCommands(_ hosts: ScanHosts) -> [String] {
        let commands = hosts.commands
        hosts.forget()
        return commands
    }

    @Test("a train is set up, changed and ended with the exact commands") func commandOctets() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let address = await hosts.scanner.address
            var train = PeriodicAdvertisingTrain(
                [1, 2, 3], within: .milliseconds(100)...(.milliseconds(200)))
            train.includesTxPower = true
            var request = try AdvertisingRequest.train(train)
            hosts.forget()
            let advertising = try await PeripheralManager(hosts.scanner).advertise(request)
            #expect(
                takeCommands(hosts) == [
                    // Set 0xef, no properties, 160 slots, all channels, own random address, LE 1M, SID 0.
                    "362019" + "ef0000" + "a00000a00000" + "07" + "01" + "00000000000000" + "00" + "7f"
                        + "01" + "00" + "01" + "00" + "00",
                    "352007" + "ef" + address.wire.hex,
                    // 80 to 160 steps of 1.25 ms, with power.
                    "3e2007" + "ef" + "5000" + "a000" + "4000",
                    "372007" + "ef" + "03" + "01" + "03" + "020954",
                    "3f2006" + "ef" + "03" + "03" + "010203",
                    "402002" + "01" + "ef",
                    "392006" + "01" + "01" + "ef" + "0000" + "00",
                ])
            request.periodic?.data = [4]
            try await advertising.update(request)
            #expect(takeCommands(hosts) == ["3f2004" + "ef" + "03" + "01" + "04"])
            // Data that do not fit into one command: the set is switched off, set up with all data, and switched on.
            request.periodic?.data = [UInt8](repeating: 9, count: 600)
            try await advertising.update(request)
            let long = takeCommands(hosts)
            #expect(
                long.map { $0.prefix(4) } == [
                    "3920", "4020", "3c20", "3620", "3520", "3e20", "3720", "3f20", "3f20", "3f20", "4020",
                    "3920",
                ])
            // 252 and 252 and 96 octets: first, intermediate, last.
            #expect(
                long.filter { $0.hasPrefix("3f20") }.map { String($0.prefix(12)) } == [
                    "3f20ff" + "ef01fc", "3f20ff" + "ef00fc", "3f2063" + "ef0260",
                ])
            // New advertising data do not change the train.
            var content = AdvertisingContent()
            content.name = "U"
            request.plan = try AdvertisingPlan(content, kind: .nonconnectable, extended: true)
            try await advertising.update(request)
            #expect(takeCommands(hosts) == ["372007" + "ef" + "03" + "01" + "03" + "020955"])
            await advertising.stop()
            #expect(
                takeCommands(hosts) == [
                    "392006" + "00" + "01" + "ef000000", "402002" + "00ef", "3c2001" + "ef",
                ])
        }
    }

    @Test("data change while the train runs, without a gap") func dataChangesWithoutGap() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await hosts.host(named: "sender", .init(extended: .init()))
            var request = try AdvertisingRequest.train(PeriodicAdvertisingTrain([0], every: Self.step))
            let advertising = try await PeripheralManager(sender).advertise(request)
            let follower = try await hosts.follow(sender)
            for value in 1...30 as ClosedRange<UInt8> {
                _ = await hosts.loop.sleep(for: .milliseconds(150))
                request.periodic?.data = [value]
                try await advertising.update(request)
            }
            _ = await hosts.loop.sleep(for: .milliseconds(200))
            let packets = await follower.end()
            for (one, next) in zip(packets, packets.dropFirst()) {
                #expect(one.received.duration(until: next.received) == Self.step)
            }
            // 1.5 packets a value: none is left out.
            let values = packets.compactMap(\.fields.bytes.first)
            #expect(values == values.sorted() && Set(values).isSuperset(of: 1...30))
        }
    }

    @Test("a train carries 1,650 octets and the TX power") func longestData() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await hosts.host(named: "sender", .init(extended: .init()))
            let data = (0..<1650).map { UInt8(truncatingIfNeeded: $0 / 3) }
            var train = PeriodicAdvertisingTrain(data, every: Self.step)
            train.includesTxPower = true
            let advertising = try await PeripheralManager(sender).advertise(try .train(train))
            let follower = try await hosts.follow(sender)
            _ = await hosts.loop.sleep(for: .seconds(1))
            let packets = await follower.end()
            #expect(packets.count >= 8)
            #expect(packets.allSatisfy { $0.fields.bytes == data && $0.txPower == 0 && !$0.isTruncated })
            await advertising.stop()
        }
    }

    @Test("a train continues while other advertisements start and stop")
    func trainSurvivesOtherAdvertisements() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await hosts.host(named: "sender", .init(extended: .init(advertisingSets: 2)))
            let peripheral = PeripheralManager(sender)
            _ = try await peripheral.advertise(try .train(PeriodicAdvertisingTrain([7], every: Self.step)))
            let follower = try await hosts.follow(sender)
            for name in ["one", "two", "three"] {
                let advertising = try await peripheral.advertise(try .beacon(name))
                _ = try await hosts.central.first(within: .seconds(7)) { $0.name == name }
                await advertising.stop()
            }
            _ = await hosts.loop.sleep(for: .seconds(10))
            let packets = await follower.end()
            #expect(packets.count > 100)
            for (one, next) in zip(packets, packets.dropFirst()) {
                #expect(one.received.duration(until: next.received) == Self.step)
            }
        }
    }

    @Test("a train ends with its advertisement, by the time limit or when stopped")
    func trainEndsWithAdvertisement() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await hosts.host(named: "sender", .init(extended: .init()))
            for isStopped in [false, true] {
                var request = try AdvertisingRequest.train(PeriodicAdvertisingTrain([7], every: Self.step))
                if !isStopped { request.duration = .seconds(3) }
                let advertising = try await PeripheralManager(sender).advertise(request)
                let follower = try await hosts.follow(sender)
                _ = await hosts.loop.sleep(for: .seconds(1))
                if isStopped { await advertising.stop() }
                #expect(try await advertising.ended() == (isStopped ? .stopped : .timeLimit))
                let ended = hosts.loop.now
                _ = await hosts.loop.sleep(for: .seconds(2))
                let last = try #require(await follower.end().last)
                #expect(last.received <= ended + .milliseconds(10))
            }
        }
    }

    @Test("a train restarts after its controller was reset") func trainRestartsAfterReset() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await hosts.host(named: "sender", .init(extended: .init()))
            _ = try await PeripheralManager(sender).advertise(
                try .train(PeriodicAdvertisingTrain([7], every: Self.step)))
            let before = try await hosts.follow(sender)
            await sender.handle(.lineLost)
            _ = await hosts.loop.sleep(for: .seconds(3))
            #expect(await before.failure == .syncLost(await sender.address, set: 0))
            let after = try await hosts.follow(sender)
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(await after.end().count >= 8)
        }
    }

    @Test("trains with invalid parameters or without the controller's support are refused")
    func refusedTrains() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let train = PeriodicAdvertisingTrain([1], every: Self.step)
            let small = try await hosts.host(
                named: "small", .init(extended: .init(advertisingDataLength: 300)))
            let none = try await hosts.host(named: "none", .init(extended: .init(periodicSyncs: 0)))
            let old = try await hosts.host(named: "old", .init())
            func refusal(_ adapter: Adapter, _ request: AdvertisingRequest) async -> BLEError? {
                await failure { () throws(BLEError) in
                    _ = try await PeripheralManager(adapter).advertise(request)
                }
            }
            let request = try AdvertisingRequest.train(train)
            #expect(await refusal(none, request) == .adapter(.unsupported(.periodicAdvertising)))
            #expect(await refusal(old, request) == .adapter(.unsupported(.extendedAdvertising)))

            var long = request
            long.periodic?.data = [UInt8](repeating: 1, count: 301)
            #expect(
                await refusal(small, long)
                    == .limit(.periodicData, maximum: 300, value: 301))
            long.periodic?.data.removeLast()
            #expect(await refusal(small, long) == nil)

            for wrong in [Duration.microseconds(7499), .microseconds(81_918_751)] {
                var request = request
                request.periodic?.interval = min(wrong, Self.step)...max(wrong, Self.step)
                #expect(
                    await refusal(hosts.scanner, request)
                        == .timeOutOfRange(
                            .periodicInterval, allowed: .microseconds(7500)...(.microseconds(81_918_750)),
                            value: wrong))
            }
            for change in [
                { $0.kind = .connectable }, { $0.isAnonymous = true }, { $0.plan = .empty },
            ] as [(inout AdvertisingRequest) -> Void] {
                var request = request
                change(&request)
                #expect(
                    await refusal(hosts.scanner, request)
                        == .invalidRequest(.advertising(.periodic)))
            }
        }
    }

    @Test("data too long for the interval are refused with both lengths")
    func dataTooLongForInterval() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let peripheral = PeripheralManager(hosts.scanner)
            var request = try AdvertisingRequest.train(
                PeriodicAdvertisingTrain([1], every: .microseconds(7500)))
            let advertising = try await peripheral.advertise(request)
            request.periodic?.data = [UInt8](repeating: 1, count: 1000)
            let tooLong = request
            // Three full packets take 7,260 us; one more octet needs a fourth packet, and 7,704 us in all.
            let error = await failure { () throws(BLEError) in try await advertising.update(tooLong) }
            #expect(
                error == .limit(.periodicDataInInterval, maximum: 743, value: 1000))
            request.periodic?.data = [UInt8](repeating: 1, count: 743)
            try await advertising.update(request)
        }
    }
}

extension AdvertisingRequest {
    /// Creates a request for a set with the name "T" and a train.
    static func train(_ train: PeriodicAdvertisingTrain, sid: UInt8? = nil) throws -> AdvertisingRequest {
        var request = try beacon("T", extended: true)
        (request.periodic, request.sid) = (train, sid)
        return request
    }

    /// Creates a request for a beacon with this name.
    static func beacon(_ name: String, extended: Bool = false) throws -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.name = name
        let plan = try AdvertisingPlan(content, kind: .nonconnectable, extended: extended)
        return AdvertisingRequest(plan, kind: .nonconnectable)
    }
}

/// A train that a host follows in a task of its own.
private struct Followed: Sendable {
    let task: Task<BLEError?, Never>
    let packets: Lock<[PeriodicAdvertisement]>

    /// Ends the task that follows the train, and returns the packets that it received.
    func end() async -> [PeriodicAdvertisement] {
        task.cancel()
        _ = await task.value
        return packets.withLock { $0 }
    }

    /// The error with which the task ends by itself.
    var failure: BLEError? { get async { await task.value } }
}

extension ScanHosts {
    /// Starts to follow the one train of `sender`, which is lost after 1 s of silence. Then waits 500 ms.
    fileprivate func follow(_ sender: Adapter) async throws -> Followed {
        let announced = try await central.first(.onlyExtended, within: .seconds(5)) {
            $0.report.periodicInterval != nil
        }
        var options = PeriodicSyncOptions()
        options.timeout = .seconds(1)
        let stream = central.periodicAdvertising(
            of: await sender.address, set: try #require(announced.report.sid), options: options)
        let packets = Lock<[PeriodicAdvertisement]>([])
        let task = Task(executorPreference: loop) {
            await failure { () throws(BLEError) in
                for try await packet in stream { packets.withLock { $0.append(packet) } }
            }
        }
        _ = await loop.sleep(for: .milliseconds(500))
        return Followed(task: task, packets: packets)
    }
}

extension ScanOptions {
    fileprivate static var onlyExtended: ScanOptions {
        var options = ScanOptions()
        options.extended = .on
        options.isPassive = true
        return options
    }
}

extension DeviceAddress {
    /// The six octets as commands carry them.
    fileprivate var wire: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
}
