import BLE
import BLEAdvertising
import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

/// Several advertisements on controllers of both families.
@Suite struct SeveralAdvertisementsTests {
    private func beacon(
        _ data: [UInt8] = [1, 2, 3], every interval: Duration = .milliseconds(100)
    ) throws -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.manufacturer = [ManufacturerData(.test, data)]
        let plan = try AdvertisingPlan(content, kind: .nonconnectable)
        var request = AdvertisingRequest(plan, kind: .nonconnectable)
        request.interval = interval
        return request
    }

    /// Returns so many octets of manufacturer data, in structures of 256 octets at most.
    private func data(_ count: Int) -> [UInt8] {
        stride(from: 0, to: count, by: 256).flatMap { start -> [UInt8] in
            let length = min(256, count - start)
            return [UInt8(length - 1), 0xff]
                + (2..<length).map { UInt8(truncatingIfNeeded: start + $0 % 251) }
        }
    }

    @Test("an advertisement whose links are all in use waits for one, and its caller does not")
    func advertisingBesideUsedLinkReturns() async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            let first = try await hosts.serveThermometer()
            let device = try await hosts.central.connect(to: try await hosts.find())
            await first.stop()
            let began = hosts.bed.loop.now
            let second = try await hosts.server.advertise()
            #expect(began.duration(until: hosts.bed.loop.now) < .seconds(1))
            #expect(try await !hosts.isConnectable(within: .seconds(5)))
            await device.disconnect()
            #expect(try await hosts.isConnectable(within: .seconds(5)))
            await second.stop()
            #expect(try await second.ended() == .stopped)
        }
    }

    @Test("a beacon continues beside a connectable service") func beaconBesideService() async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            let service = try await hosts.serveThermometer()
            let beacon = try await hosts.peripheral.advertise(try self.beacon())
            for _ in 0..<2 {
                #expect(try await hosts.receives([1, 2, 3]))
                let address = try await hosts.find()
                try await hosts.central.withConnection(to: address) { device in
                    // The one link is in use: the beacon continues, and no other central can connect.
                    #expect(try await hosts.receives([1, 2, 3]))
                    #expect(try await !hosts.isConnectable(within: .seconds(5)))
                    let temperature = try await hosts.characteristic(0x2a6e, of: device)
                    #expect(try await device.read(temperature.valueHandle) == [0xb2, 0x08])
                }
            }
            await service.stop()
            #expect(try await service.ended() == .stopped)
            #expect(try await !hosts.isConnectable(within: .seconds(5)))
            #expect(try await hosts.receives([1, 2, 3]))
            await beacon.stop()
            #expect(try await !hosts.receives([1, 2, 3]))
        }
    }

    @Test(
        "a scan that reports each advertisement once reports all of one address", arguments: [false, true])
    func onceReportsAllAdvertisementsOfAddress(_ isExtended: Bool) async throws {
        try await ScanHosts.run(extended: isExtended) { hosts in
            let server = try await hosts.host(named: "server", .init(extended: .init()))
            var content = AdvertisingContent()
            content.name = "Lamp"
            let manager = PeripheralManager(server)
            _ = try await manager.advertise(
                AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable)), maximumLinks: 1)
            _ = try await manager.advertise(try self.beacon())
            var options = ScanOptions()
            options.repeats = .once
            let found = try await hosts.receive(options, for: .seconds(5))
            #expect(found.count == 2)
            #expect(found.count { $0.name == "Lamp" && $0.isConnectable } == 1)
            let data = [ManufacturerData(.test, [1, 2, 3])]
            #expect(found.count { $0.fields.manufacturerData == data && !$0.isConnectable } == 1)
        }
    }

    @Test("advertising is connectable again while links are free", arguments: [false, true])
    func staysConnectableWhileLinksAreFree(_ isExtended: Bool) async throws {
        try await TwoHosts.run(serverExtended: isExtended, clientExtended: isExtended) { hosts in
            _ = try await hosts.serveThermometer(maximumLinks: 2)
            let address = try await hosts.find()
            try await hosts.central.withConnection(to: address) { _ in
                #expect(try await hosts.isConnectable(within: .seconds(5)))
                let third = try await hosts.another(extended: isExtended)
                let link = try await CentralManager(third).connect(to: address)
                #expect(try await !hosts.isConnectable(within: .seconds(5)))
                await link.disconnect()
                #expect(try await hosts.isConnectable(within: .seconds(5)))
                await third.close()
            }
        }
    }

    @Test(
        "more advertisements than sets are refused until one of them stops",
        arguments: [false, true])
    func excessAdvertisementIsRefusedUntilOneStops(_ isExtended: Bool) async throws {
        try await TwoHosts.run(serverExtended: isExtended, clientExtended: true) { hosts in
            let controller = await hosts.server.controller
            #expect(controller.coreVersion == (isExtended ? .v5_4 : .v4_2))
            #expect(controller.transmitPowerRange == (isExtended ? -20...0 : nil))
            let sets = controller.numberOfAdvertisingSets
            #expect(sets == (isExtended ? 4 : 1))
            var advertisements: [Advertising] = []
            for number in 0..<UInt8(sets) {
                advertisements.append(try await hosts.peripheral.advertise(try self.beacon([number])))
            }
            let one = try self.beacon([99])
            let error = await failure { () throws(BLEError) in _ = try await hosts.peripheral.advertise(one) }
            #expect(
                error
                    == .limit(.advertisements, maximum: sets, value: sets + 1))
            for number in 0..<UInt8(sets) { #expect(try await hosts.receives([number])) }
            await advertisements[0].stop()
            _ = try await hosts.peripheral.advertise(one)
            #expect(try await hosts.receives([99]))
            #expect(try await !hosts.receives([0]))
        }
    }

    @Test(
        "an advertisement that starts while another stops is on air afterwards, the other is not",
        arguments: [nil, 1, 4] as [UInt8?], [false, true])
    func startDuringStop(sets: UInt8?, stopsFirst: Bool) async throws {
        // The number of turns of the loop between the start and the stop.
        for turns in [0, 1, 2, 3, 4, 6, 8, 12, 16, 24] {
            try await VirtualTestbed.run { bed in
                let abilities = sets.map { VirtualController.ExtendedAbilities(advertisingSets: $0) }
                let server = try await bed.host("server") { $0.extended = abilities }
                let client = try await bed.host("client", extended: true)
                let hosts = TwoHosts(bed: bed, server: server, client: client)
                let first = try await hosts.peripheral.advertise(try self.beacon([1]))
                let request = try self.beacon([2])
                let stopping: Task<Void, any Error>
                let beginning: Task<Advertising, any Error>
                if stopsFirst {
                    stopping = bed.task { await first.stop() }
                    for _ in 0..<turns { await Task.yield() }
                    beginning = bed.task { try await hosts.begin(request) }
                } else {
                    beginning = bed.task { try await hosts.begin(request) }
                    for _ in 0..<turns { await Task.yield() }
                    stopping = bed.task { await first.stop() }
                }
                let second = try await beginning.value
                try await stopping.value
                #expect(try await hosts.receives([2]), "\(turns) turns")
                #expect(try await !hosts.receives([1]), "\(turns) turns")
                await second.stop()
                #expect(try await !hosts.receives([2]), "\(turns) turns")
            }
        }
    }

    @Test(
        "tasks that wait for an advertisement's end resume when another task stops it",
        arguments: [false, true])
    func stopResumesWaitingTasks(_ isExtended: Bool) async throws {
        try await TwoHosts.run(serverExtended: isExtended, clientExtended: isExtended) { hosts in
            let advertising = try await hosts.peripheral.advertise(try self.beacon())
            let ends = Lock<[AdvertisingEnd]>([])
            let waiting = (0..<2).map { _ in
                Task(executorPreference: hosts.loop) {
                    let end = try await advertising.ended()
                    ends.withLock { $0.append(end) }
                }
            }
            _ = await hosts.loop.sleep(for: .seconds(10))
            #expect(ends.withLock { $0 } == [])
            await advertising.stop()
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(ends.withLock { $0 } == [.stopped, .stopped])
            for each in waiting {
                each.cancel()
                _ = await each.result
            }
        }
    }

    @Test("advertising data change without a gap", arguments: [false, true])
    func dataUpdateLeavesNoGap(_ isExtended: Bool) async throws {
        // On controllers of 4.2 the shortest interval of nonconnectable advertising is 100 ms.
        let interval: Duration = isExtended ? .milliseconds(20) : .milliseconds(100)
        try await TwoHosts.run(serverExtended: isExtended, clientExtended: isExtended) { hosts in
            let beacon = try await hosts.peripheral.advertise(try self.beacon([0], every: interval))
            let arrived = Task(executorPreference: hosts.loop) { try await hosts.times(of: 60) }
            for number in 1...20 as ClosedRange<UInt8> {
                _ = await hosts.loop.sleep(for: interval * 5 / 2)
                try await beacon.update(try self.beacon([number], every: interval))
            }
            let times = try await arrived.value
            // The controller adds at most 10 ms to the interval. Advertising that is stopped and started again
            // would send an event at once, which is too early.
            for (before, after) in zip(times, times.dropFirst()) {
                let step = before.time.duration(until: after.time)
                #expect(step >= interval && step <= interval + .milliseconds(10))
            }
            #expect(Set(times.map(\.data)).count > 15)
            #expect(try await hosts.receives([20]))
        }
    }

    @Test func newParametersAreOnAirWhenUpdateReturns() async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            let advertising = try await hosts.peripheral.advertise(try self.beacon())
            var content = AdvertisingContent()
            content.manufacturer = [ManufacturerData(.test, [UInt8](repeating: 9, count: 240))]
            let name = String(repeating: "n", count: 100)
            content.name = name
            let plan = try AdvertisingPlan(content, kind: .nonconnectable, extended: true)
            var request = AdvertisingRequest(plan, kind: .nonconnectable)
            (request.secondaryPHY, request.power) = (.le2M, -7)
            try await advertising.update(request)
            #expect(await advertising.power == -7)
            let found = try await hosts.central.first(within: .seconds(5)) { $0.name == name }
            #expect(found.report.secondaryPHY == .le2M && found.report.data.count == 346)
            // Data that need more than one command, while the set is on air.
            content.manufacturer.append(ManufacturerData(.test, [UInt8](repeating: 8, count: 240)))
            content.name = "longer"
            request.plan = try AdvertisingPlan(content, kind: .nonconnectable, extended: true)
            try await advertising.update(request)
            let next = try await hosts.central.first(within: .seconds(5)) { $0.name == "longer" }
            #expect(next.report.data.count == 244 * 2 + 8)
        }
    }

    @Test("data up to the controller's limit are sent in fragments; more are refused with the limit")
    func dataOfASmallerController() async throws {
        try await ScanHosts.run { hosts in
            let controller = await hosts.air.attach(.init(extended: .init(advertisingDataLength: 600)))
            let port = ControlledPort(controller, on: hosts.loop)
            let adapter = try await Adapter.open(on: port, options: AdapterOptions(loop: hosts.loop))
            for (kind, opcode) in [
                (AdvertisingKind.nonconnectable, HCIOpcode.leSetExtendedAdvertisingData),
                (.scannable, .leSetExtendedScanResponseData),
            ] {
                // Five structures, each with four octets of header, 600 octets together.
                var content = AdvertisingContent()
                content.manufacturer = (0..<5).map {
                    ManufacturerData(.test, [UInt8](repeating: $0, count: 116))
                }
                var request = AdvertisingRequest(
                    try AdvertisingPlan(content, kind: kind, extended: true), kind: kind)
                port.forget()
                let advertising = try await PeripheralManager(adapter).advertise(request)
                let pieces = port.commands.filter { $0.opcode == opcode }.map(\.parameters)
                // Set, operation (first, intermediate, last), preference, octets.
                #expect(
                    pieces.map { Array($0.prefix(4)) } == [
                        [0xef, 1, 1, 251], [0xef, 0, 1, 251], [0xef, 2, 1, 98],
                    ])
                #expect(pieces.flatMap { $0.dropFirst(4) } == request.plan.extended)
                content.manufacturer[4].data.append(0)
                request.plan = try AdvertisingPlan(content, kind: kind, extended: true)
                let tooLong = request
                let error = await failure { () throws(BLEError) in try await advertising.update(tooLong) }
                #expect(error == .limit(.advertisingData, maximum: 600, value: 601))
                await advertising.stop()
            }
            await adapter.close()
        }
    }

    @Test("a refused update keeps the previous advertisement on air")
    func refusedUpdateKeepsAdvertisement() async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            let advertising = try await hosts.peripheral.advertise(try self.beacon())
            var content = AdvertisingContent()
            content.manufacturer = (0..<6).map { _ in
                ManufacturerData(.test, [UInt8](repeating: 9, count: 240))
            }
            // More data than fit into 20 ms: three announcements take 1,308 us, a full packet 17,340, one more octet
            // in another packet 1,820.
            var request = AdvertisingRequest(
                try AdvertisingPlan(content, kind: .nonconnectable, extended: true), kind: .nonconnectable)
            request.interval = .milliseconds(20)
            request.secondaryPHY = .leCoded
            let error = await failure { () throws(BLEError) in try await advertising.update(request) }
            #expect(error == .limit(.advertisingDataInInterval, maximum: 242, value: 1464))
            #expect(try await hosts.receives([1, 2, 3]))
            await advertising.stop()
            let stopped = await failure { () throws(BLEError) in try await advertising.update(request) }
            #expect(stopped == .invalidRequest(.advertisementEnded))
        }
    }

    @Test("time and event limits end an advertisement", arguments: [false, true])
    func limitsEndAdvertisement(_ isExtended: Bool) async throws {
        try await TwoHosts.run(serverExtended: isExtended, clientExtended: isExtended) { hosts in
            var request = try self.beacon()
            request.duration = .seconds(3)
            let advertising = try await hosts.peripheral.advertise(request)
            let begun = hosts.loop.now
            #expect(try await hosts.receives([1, 2, 3]))
            #expect(try await advertising.ended() == .timeLimit)
            let lasted = begun.duration(until: hosts.loop.now)
            #expect(lasted >= .milliseconds(2990) && lasted <= .milliseconds(3010))
            #expect(try await !hosts.receives([1, 2, 3]))

            request.duration = nil
            request.maximumEvents = 5
            let wanted = request
            guard isExtended else {
                let error = await failure { () throws(BLEError) in
                    _ = try await hosts.peripheral.advertise(wanted)
                }
                return #expect(error == .adapter(.unsupported(.advertisingEventCount)))
            }
            let arrived = Task(executorPreference: hosts.loop) { try await hosts.times(of: 5) }
            _ = await hosts.loop.sleep(for: .seconds(1))
            let counted = try await hosts.peripheral.advertise(wanted)
            #expect(try await counted.ended() == .eventLimit)
            let times = try await arrived.value
            #expect(times.count == 5)
            // The advertisement ended with its fifth event.
            #expect(
                (times.last?.time).map { $0.duration(until: hosts.loop.now) <= .milliseconds(10) } == true)
            #expect(try await !hosts.receives([1, 2, 3]))
        }
    }

    @Test("only the peer that directed advertising names can connect", arguments: [false, true])
    func onlyDirectedPeerConnects(_ isExtended: Bool) async throws {
        try await TwoHosts.run(serverExtended: isExtended, clientExtended: isExtended) { hosts in
            let peer = await hosts.client.address
            let short = try await hosts.peripheral.advertise(
                AdvertisingRequest(to: AdvertisingDirection(peer, dutyCycle: .high)))
            let begun = hosts.loop.now
            #expect(try await short.ended() == .timeLimit)
            let lasted = begun.duration(until: hosts.loop.now)
            #expect(lasted >= .milliseconds(1270) && lasted <= .milliseconds(1290))

            _ = try await hosts.peripheral.advertise(AdvertisingRequest(to: AdvertisingDirection(peer)))
            try await hosts.central.withConnection(to: await hosts.server.address) { _ in }
            let other = try await hosts.another(extended: isExtended)
            let error = await failure { () throws(BLEError) in
                _ = try await CentralManager(other).connect(
                    to: await hosts.server.address, timeout: .seconds(5))
            }
            #expect(error != nil)
            await other.close()
        }
    }

    @Test func anonymousAdvertisingHasNoAddress() async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            var content = AdvertisingContent()
            content.name = "absent"
            var request = AdvertisingRequest(
                try AdvertisingPlan(content, kind: .nonconnectable, extended: true), kind: .nonconnectable)
            request.isAnonymous = true
            request.includesTxPower = true
            request.sid = 9
            _ = try await hosts.peripheral.advertise(request)
            let found = try await hosts.central.first(within: .seconds(5)) { $0.name == "absent" }
            #expect(found.address == nil && found.report.sid == 9 && found.report.txPower == 0)
        }
    }

    @Test("1,650 octets are received whole, in the data or in the scan response", arguments: [false, true])
    func longestDataAreReceived(isScannable: Bool) async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            #expect(await hosts.server.controller.maximumAdvertisingDataLength == 1650)
            var content = AdvertisingContent()
            content.raw = self.data(1650)
            let kind = isScannable ? AdvertisingKind.scannable : .nonconnectable
            let plan = try AdvertisingPlan(content, kind: kind, extended: true)
            _ = try await hosts.peripheral.advertise(AdvertisingRequest(plan, kind: kind))
            let found = try await hosts.central.first(within: .seconds(5)) { $0.data.count > 31 }
            #expect(found.data == content.raw)
            #expect(!found.isTruncated && found.isScanResponse == isScannable)
        }
    }

    @Test("data that a connectable set cannot carry are refused with the limit")
    func connectableDataAreLimited() async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            var content = AdvertisingContent()
            content.raw = self.data(245)
            let plan = try AdvertisingPlan(content, kind: .connectable, extended: true)
            let advertising = try await hosts.peripheral.advertise(AdvertisingRequest(plan))
            let found = try await hosts.central.first(within: .seconds(5)) { $0.isConnectable }
            #expect(found.data == content.raw)
            await advertising.stop()

            content.raw = self.data(246)
            let error = #expect(throws: AdvertisingPlanError.self) {
                _ = try AdvertisingPlan(content, kind: .connectable, extended: true)
            }
            #expect("\(error as Any)".contains("245"))
            // A plan for another kind is not checked against the limit of a connectable set until then.
            let longer = AdvertisingRequest(
                try AdvertisingPlan(content, kind: .nonconnectable, extended: true), kind: .connectable)
            let refused = await failure { () throws(BLEError) in
                _ = try await hosts.peripheral.advertise(longer)
            }
            #expect(refused == .limit(.connectableData, maximum: 245, value: 246))
        }
    }

    @Test func setsHaveDistinctSIDs() async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            var sids: Set<UInt8?> = []
            for name in ["a", "b", "c"] {
                var content = AdvertisingContent()
                content.name = name
                let plan = try AdvertisingPlan(content, kind: .nonconnectable, extended: true)
                _ = try await hosts.peripheral.advertise(AdvertisingRequest(plan, kind: .nonconnectable))
                sids.insert(try await hosts.central.first(within: .seconds(5)) { $0.name == name }.report.sid)
            }
            #expect(sids == [0, 1, 2])
        }
    }

    @Test func closingAdapterEndsAllAdvertisements() async throws {
        try await TwoHosts.run(serverExtended: true, clientExtended: true) { hosts in
            let advertisements = [
                try await hosts.serveThermometer(), try await hosts.peripheral.advertise(try self.beacon()),
            ]
            await hosts.server.close()
            for advertising in advertisements { #expect(try await advertising.ended() == .stopped) }
        }
    }

    @Test func lostRadioFailsAllAdvertisements() async throws {
        try await TwoHosts.run { hosts in
            let advertising = try await hosts.serveThermometer()
            await hosts.air.close()
            let error = await failure { () throws(BLEError) in _ = try await advertising.ended() }
            #expect(error == .adapter(.hungUp(.port)))
        }
    }
}

extension TwoHosts {
    /// Advertises as soon as a set is free for it.
    fileprivate func begin(_ request: AdvertisingRequest) async throws -> Advertising {
        for _ in 0..<1000 {
            do {
                return try await peripheral.advertise(request)
            } catch {
                guard case .limit = error else { throw error }
                await Task.yield()
            }
        }
        return try await peripheral.advertise(request)
    }

    /// Returns whether the client receives a beacon with these data of the test company.
    fileprivate func receives(_ data: [UInt8], within limit: Duration = .seconds(5)) async throws -> Bool {
        try await sees(within: limit) {
            AdvertisingData($0.report.data).manufacturerData == [ManufacturerData(.test, data)]
        }
    }

    /// Returns whether the client receives connectable advertising.
    fileprivate func isConnectable(within limit: Duration) async throws -> Bool {
        try await sees(within: limit) { $0.report.type.contains(.connectable) }
    }

    private func sees(
        within limit: Duration, _ isMeant: @escaping @Sendable (Advertisement) -> Bool
    ) async throws -> Bool {
        do {
            var options = ScanOptions()
            options.repeats = .all
            _ = try await central.first(options, within: limit, where: isMeant)
            return true
        } catch {
            guard case .notFound = error else { throw error }
            return false
        }
    }

    /// Returns the times at which the client receives `count` packets, and their data.
    fileprivate func times(of count: Int) async throws -> [(time: Instant, data: [UInt8])] {
        var options = ScanOptions()
        options.repeats = .all
        options.isPassive = true
        var times: [(time: Instant, data: [UInt8])] = []
        for try await found in central.scan(options) {
            times.append((found.received, found.report.data))
            if times.count == count { break }
        }
        return times
    }

    /// Creates one more host on the same air.
    fileprivate func another(extended: Bool) async throws -> Adapter {
        try await Adapter.open(
            on: await air.attach(.init(extended: extended ? .init() : nil)), name: "another",
            options: AdapterOptions(loop: loop))
    }
}
