import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTServer
import HCISocket
import Testing

/// Chains: single expressions from a scan to a value.
struct ChainTests {
    @Test func chainScansConnectsReadsAndWrites() async throws {
        try await VirtualTestbed.run { bed in
            let (near, far) = (try await bed.host("near"), try await bed.host("far"))
            try await near.serveBattery(80, named: "near")
            try await far.serveBattery(20, named: "far")
            let central = CentralManager(try await bed.host("client"))
            let kitchen = central.channel("kitchen")
            let (events, others) = (kitchen.events(), central.channel("kitchen").events())
            let chain = kitchen.scan { $0.services = [.batteryService] }
            let level = try await chain.within(.seconds(5)).connect { $0.name == "far" }.read(.batteryLevel)
            #expect(level.percent == 20)
            let less = try #require(BatteryLevel(percent: 10))
            try await chain.where { $0.name == "near" }.write(less, to: .writableLevel)
            let found = try await chain.where { $0.name == "near" }.first()
            #expect(found.name == "near")
            #expect(await found.address == near.address)

            let id = await central.identifier(of: far.address)
            var reported: [ChainEvent] = []
            var iterator = events.makeAsyncIterator()
            for _ in 0..<6 {
                if let event = try await iterator.next() { reported.append(event) }
            }
            #expect(reported.prefix(1) == [.began(.scan, nil)])
            #expect(
                reported.dropFirst(3) == [.began(.connect, id), .done(.connect, id), .began(.read, id)])
            // Another channel with the same name receives no events.
            #expect(others.dropped == 0)
            let silent = await failure { () throws(BLEError) in
                try await central.adapter.within(.seconds(1)) { () throws(BLEError) in
                    for try await _ in others { return }
                }
            }
            #expect(silent == .timedOut(.operation, after: .seconds(1)))
        }
    }

    /// A device that a filter has refused can pass it later, with the same advertising data.
    @Test func filterReceivesEachPacket() async throws {
        try await VirtualTestbed.run { bed in
            let peer = try await bed.host("peer")
            try await peer.serveBattery(80, named: "peer")
            let central = CentralManager(try await bed.host("client"))
            let seen = Lock(0)
            let third: @Sendable (Advertisement) -> Bool = { _ in
                seen.withLock {
                    $0 += 1
                    return $0.isMultiple(of: 3)
                }
            }
            let found = try await central.chain().where(third).within(.seconds(5)).first()
            #expect(found.name == "peer")
            let levels = try await central.chain().where(third).within(.seconds(5)).each(1) {
                (device) throws(BLEError) in try await device.read(.batteryLevel).percent
            }
            #expect(levels.values.compactMap { try? $0.get() } == [80])
            let none = try await central.chain().within(.seconds(5)).each(0) {
                (device) throws(BLEError) in try await device.read(.batteryLevel).percent
            }
            #expect(none.isEmpty)
        }
    }

    @Test func failureNamesItsStep() async throws {
        try await VirtualTestbed.run { bed in
            let peer = try await bed.host("peer")
            try await peer.serveBattery(80, named: "peer")
            let client = try await bed.host("client")
            let central = CentralManager(client)
            let id = await central.identifier(of: peer.address)
            let hall = central.channel("hall")

            let scan = await chainFailure { () throws(ChainError) in
                try await hall.scan { $0.name = "absent" }.within(.seconds(3)).read(.batteryLevel)
            }
            #expect(
                scan
                    == Failure(
                        .scan, nil, .notFound(.device(within: .seconds(3)))))
            #expect(scan?.text == "hall: scan: no device was found within 3 s")
            let read = await chainFailure { () throws(ChainError) in
                try await hall.scan().read(.heartRateMeasurement)
            }
            #expect(read?.step == .read)
            #expect(read?.device == id)
            let used = await chainFailure { () throws(ChainError) in
                try await hall.scan().use { (_) throws(BLEError) in throw .notFound(.device(within: nil)) }
            }
            #expect(used == Failure(.use, id, .notFound(.device(within: nil))))
            // No chain has left a link.
            #expect(await central.state(of: id) == .disconnected)
            await peer.close()
        }
    }

    @Test func deviceLostAfterScanFailsAtConnect() async throws {
        try await VirtualTestbed.run { bed in
            let peer = try await bed.host("peer")
            try await peer.serveBattery(80, named: "peer")
            let client = try await bed.host("client")
            let central = CentralManager(client)
            let id = await central.identifier(of: peer.address)
            let hall = central.channel("hall")
            let (leaving, events) = (hall.events(), hall.events())
            // The device is out of range as soon as it is found.
            let carrying = bed.task {
                for try await event in leaving {
                    guard case .found = event else { continue }
                    return await bed.setRSSI(nil, between: client, and: peer)
                }
            }
            let failure = await chainFailure { () throws(ChainError) in
                try await hall.scan().connect(timeout: .seconds(3)).read(.batteryLevel)
            }
            try await carrying.value
            let expected = Failure(.connect, id, .timedOut(.connecting, after: .seconds(3)))
            #expect(failure == expected)
            try await Self.expectEnd(of: events, began: [.scan, .connect], done: [.scan], expected)
            #expect(await central.state(of: id) == .disconnected)
            let isInUse = await bed.isRadioInUse(by: client)
            #expect(!isInUse)
        }
    }

    @Test func refusedValueFailsAtWrite() async throws {
        try await VirtualTestbed.run { bed in
            let peer = try await bed.host("peer")
            try await peer.serveBattery(80, named: "peer")
            let handle = try #require(await PeripheralManager(peer).valueHandle(of: .batteryLevel))
            let client = try await bed.host("client")
            let central = CentralManager(client)
            let id = await central.identifier(of: peer.address)
            let hall = central.channel("hall")
            let events = hall.events()
            let less = try #require(BatteryLevel(percent: 10))
            let failure = await chainFailure { () throws(ChainError) in
                try await hall.scan().write(less, to: .batteryLevel)
            }
            let refusal = ATTErrorResponse(.writeRequest, handle, .writeNotPermitted)
            let expected = Failure(.write, id, .att(refusal))
            #expect(failure == expected)
            #expect(failure?.text.hasPrefix("hall: write: ") == true)
            try await Self.expectEnd(
                of: events, began: [.scan, .connect, .write], done: [.scan, .connect], expected)
            #expect(await central.state(of: id) == .disconnected)
        }
    }

    /// Checks the steps of one chain that fails, in the events of its channel.
    private static func expectEnd(
        of events: BoundedStream<ChainEvent>, began: [ChainStep], done: [ChainStep], _ failure: Failure
    ) async throws {
        var (begun, finished): ([ChainStep], [ChainStep]) = ([], [])
        for try await event in events {
            switch event {
            case .began(let step, _): begun.append(step)
            case .done(let step, _): finished.append(step)
            case .found: #expect(begun == [.scan])
            case .failed(let error):
                #expect(Failure(error.step, error.device, error.error) == failure)
                #expect(error.channel == "hall")
                #expect(begun == began && finished == done)
                return
            }
        }
        Issue.record("the events have no failure")
    }

    @Test func cancellationFreesRadio() async throws {
        try await VirtualTestbed.run { bed in
            let peer = try await bed.host("peer")
            try await peer.serveBattery(80, named: "peer")
            let client = try await bed.host("client")
            let central = CentralManager(client)
            let waiting = bed.task {
                await chainFailure { () throws(ChainError) in
                    try await central.chain().values(of: .batteryLevel) { (_) throws(BLEError) in true }
                }
            }
            await bed.wait(.seconds(5))
            let id = await central.identifier(of: peer.address)
            #expect(await central.state(of: id) == .connected)
            waiting.cancel()
            let failure = try await waiting.value
            #expect(failure == Failure(.values, id, .cancelled))
            #expect(await central.state(of: id) == .disconnected)
            let isInUse = await bed.isRadioInUse(by: client)
            #expect(!isInUse)
        }
    }

    @Test func eachRunsSeveralDevicesConcurrently() async throws {
        try await VirtualTestbed.run { bed in
            for number in 1...4 {
                try await bed.host("peer \(number)").serveBattery(number, named: "peer \(number)")
            }
            let central = CentralManager(try await bed.host("client"))
            let chain = central.chain().within(.seconds(10)).where { $0.name != "peer 4" }.connect()
            let most = Lock(0)
            let levels = try await chain.each(3) { (device) throws(BLEError) in
                await bed.wait(.seconds(15))
                let together = try await central.retrieveConnectedPeripherals().count
                most.withLock { $0 = max($0, together) }
                return try await device.read(.batteryLevel).percent
            }
            #expect(levels.values.compactMap { try? $0.get() }.sorted() == [1, 2, 3])
            // All three devices were connected at the same time.
            #expect(most.withLock { $0 } == 3)
            #expect(try await central.retrieveConnectedPeripherals() == [])
            // When the time is over, the chain has the devices that were found, even if more were requested.
            let two = try await central.chain().within(.seconds(5)).where { $0.name != "peer 4" }.each(9) {
                (device) throws(BLEError) in try await device.read(.batteryLevel).percent
            }
            #expect(two.count == 3)
            let none = await chainFailure { () throws(ChainError) in
                try await central.chain { $0.name = "absent" }.within(.seconds(1)).each(1) {
                    (_) throws(BLEError) in
                }
            }
            #expect(none?.step == .scan)
        }
    }
}

/// The failure of a chain, without its channel.
private struct Failure: Equatable, Sendable {
    let step: ChainStep
    let device: Peripheral.Identifier?
    let error: BLEError
    let text: String

    init(_ step: ChainStep, _ device: Peripheral.Identifier?, _ error: BLEError, text: String = "") {
        (self.step, self.device, self.error, self.text) = (step, device, error, text)
    }

    static func == (left: Failure, right: Failure) -> Bool {
        (left.step, left.error) == (right.step, right.error) && left.device == right.device
    }
}

private func chainFailure(_ body: () async throws(ChainError) -> some Sendable) async -> Failure? {
    do throws(ChainError) {
        _ = try await body()
        return nil
    } catch {
        return Failure(error.step, error.device, error.error, text: "\(error)")
    }
}

extension CharacteristicKey<BatteryLevel> {
    /// A second level of `serveBattery`, which can be written.
    fileprivate static let writableLevel = CharacteristicKey(0xfff2, in: .batteryService)
}

extension Adapter {
    fileprivate func serveBattery(_ percent: Int, named name: String) async throws {
        let level = try #require(BatteryLevel(percent: percent))
        var service = GATTService.battery(level)
        service.characteristics.append(GATTCharacteristic(0xfff2, properties: .write))
        let manager = PeripheralManager(self)
        try await manager.publish([service])
        var content = AdvertisingContent()
        content.name = name
        content.services = [.batteryService]
        let plan = try AdvertisingPlan(content, kind: .connectable)
        _ = try await manager.advertise(AdvertisingRequest(plan))
    }
}
