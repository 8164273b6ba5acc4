import BLECore
import HCI
import TestSupport
import Testing
import VirtualController

@Suite struct ConnectingTests {
    @Test(arguments: [
        AdvertisingType.connectable, .directedLowDutyCycle, .directedHighDutyCycle,
    ]) func bothSidesReportConnection(_ type: AdvertisingType) {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        bench.perform(bench.creation(to: peripheral), on: central)
        #expect(bench.packets(central).isEmpty)
        bench.advertise(on: peripheral, type, at: bench.address(central))
        bench.run(for: .milliseconds(200))
        let (one, other) = (bench.connections(central), bench.connections(peripheral))
        #expect(
            one == [
                LEConnectionComplete(
                    connection: ConnectionHandle(0x0040), role: .central,
                    peer: HCIAddress(bench.address(peripheral)), interval: ConnectionInterval(rawValue: 24),
                    latency: 0, supervisionTimeout: Centiseconds(rawValue: 42))
            ])
        #expect(
            other == [
                LEConnectionComplete(
                    connection: ConnectionHandle(0x0040), role: .peripheral,
                    peer: HCIAddress(bench.address(central)), interval: ConnectionInterval(rawValue: 24),
                    latency: 0, supervisionTimeout: Centiseconds(rawValue: 42))
            ])
        bench.run(for: .seconds(60))
        #expect(bench.events(central).isEmpty && bench.events(peripheral).isEmpty, "and it lasts")
    }

    @Test func advertisingStopsOnConnection() throws {
        var bench = Bench()
        let (central, peripheral, scanner) = (bench.join(), bench.join(), bench.join())
        _ = try bench.connect(central, to: peripheral)
        bench.scan(on: scanner)
        bench.run(for: .seconds(1))
        #expect(bench.reports(scanner).isEmpty)
        bench.perform(LESetAdvertisingEnable(enable: true), on: peripheral)
        bench.run(for: .seconds(1))
        #expect(bench.reports(scanner).count > 5)
    }

    @Test(arguments: [AdvertisingType.scannable, .nonconnectable])
    func nonconnectableTypesDoNotConnect(_ type: AdvertisingType) {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        bench.advertise(on: peripheral, type)
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.run(for: .seconds(5))
        #expect(bench.events(central).isEmpty)
    }

    @Test func directedAdvertiserIgnoresOtherInitiators() {
        var bench = Bench()
        let (central, peripheral, target) = (bench.join(), bench.join(), bench.join())
        bench.advertise(on: peripheral, .directedLowDutyCycle, at: bench.address(target))
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.run(for: .seconds(5))
        #expect(bench.events(central).isEmpty)
    }

    @Test func initiatorConnectsOnlyToListedDevice() {
        var bench = Bench()
        let (central, unwanted, wanted) = (bench.join(), bench.join(), bench.join())
        bench.perform(LEAddDeviceToFilterAcceptList(device: HCIAddress(bench.address(wanted))), on: central)
        bench.advertise(on: unwanted)
        // The peer in the command is ignored.
        bench.perform(bench.creation(to: unwanted, filter: .acceptList), on: central)
        bench.run(for: .seconds(1))
        #expect(bench.events(central).isEmpty)
        bench.advertise(on: wanted)
        bench.run(for: .seconds(1))
        #expect(bench.connections(central).map(\.peer) == [HCIAddress(bench.address(wanted))])
    }

    /// An initiator is connected once it has sent its request. An advertiser that did not accept the request
    /// sends nothing on the connection.
    @Test func refusedConnectionFailsToBeEstablished() {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.advertise(on: peripheral, filter: .filterConnections)
        bench.run(for: .milliseconds(100))
        #expect(bench.connections(central).map(\.status) == [.success])
        bench.run(for: .milliseconds(180))
        #expect(
            bench.events(central) == [
                .disconnectionComplete(
                    DisconnectionComplete(
                        connection: ConnectionHandle(0x0040), reason: .connectionFailedToBeEstablished))
            ])
        #expect(bench.events(peripheral).isEmpty)
    }

    @Test func advertiserAcceptsListedInitiator() {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        bench.perform(
            LEAddDeviceToFilterAcceptList(device: HCIAddress(bench.address(central))), on: peripheral)
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.advertise(on: peripheral, filter: .filterConnections)
        bench.run(for: .milliseconds(100))
        #expect(bench.connections(peripheral).map(\.peer) == [HCIAddress(bench.address(central))])
    }

    @Test func advertiserAcceptsOneOfTwoInitiators() {
        var bench = Bench()
        let (peripheral, first, second) = (bench.join(), bench.join(), bench.join())
        bench.perform(bench.creation(to: peripheral), on: first)
        bench.perform(bench.creation(to: peripheral), on: second)
        bench.advertise(on: peripheral)
        bench.run(for: .seconds(1))
        #expect(bench.connections(peripheral).count == 1)
        let endings = [first, second].map { id in
            bench.events(id).filter { if case .disconnectionComplete = $0 { true } else { false } }.count
        }
        #expect(endings == [0, 1])
    }

    @Test func cancelledConnectionReportsUnknownIdentifier() {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        #expect(bench.status(LECreateConnectionCancel(), on: central) == .commandDisallowed)
        bench.perform(bench.creation(to: peripheral), on: central)
        #expect(bench.status(bench.creation(to: peripheral), on: central) == .commandDisallowed)
        bench.perform(LECreateConnectionCancel(), on: central)
        let ended = bench.connections(central)
        #expect(ended.map(\.status) == [.unknownConnectionIdentifier])
        #expect(ended.map(\.role) == [.central])
        bench.advertise(on: peripheral)
        bench.run(for: .seconds(1))
        #expect(bench.events(central).isEmpty)
    }

    @Test func connectedPeerCannotBeConnectedAgain() throws {
        var (bench, central, peripheral, _, _) = try Bench.pair()
        #expect(bench.status(bench.creation(to: peripheral), on: central) == .connectionAlreadyExists)
        // An initiator that uses the accept list ignores a connected peer.
        bench.perform(
            LEAddDeviceToFilterAcceptList(device: HCIAddress(bench.address(peripheral))), on: central)
        bench.perform(bench.creation(to: peripheral, filter: .acceptList), on: central)
        bench.perform(LESetAdvertisingEnable(enable: true), on: peripheral)
        bench.run(for: .seconds(1))
        #expect(bench.events(central).isEmpty)
    }

    @Test func connectionLimitIsEnforced() throws {
        var configuration = VirtualController.Configuration()
        configuration.maximumConnections = 2
        var bench = Bench()
        let central = bench.join(configuration)
        let peripherals = (0..<3).map { _ in bench.join() }
        let one = try bench.connect(central, to: peripherals[0])
        let two = try bench.connect(central, to: peripherals[1])
        #expect(one.central != two.central)
        #expect(bench.status(bench.creation(to: peripherals[2]), on: central) == .connectionLimitExceeded)
        bench.perform(
            LESetAdvertisingParameters(
                intervalMin: Slots(rawValue: 160), intervalMax: Slots(rawValue: 160), ownAddressType: .random),
            on: central)
        #expect(bench.status(LESetAdvertisingEnable(enable: true), on: central) == .connectionLimitExceeded)
        bench.perform(Disconnect(connection: one.central), on: central)
        _ = bench.events(central)
        let three = try bench.connect(central, to: peripherals[2])
        #expect(three.central != one.central, "handles do not come back at once")
    }

    @Test func controllerCanBeCentralAndPeripheral() throws {
        var bench = Bench()
        let (low, middle, high) = (bench.join(), bench.join(), bench.join())
        _ = try bench.connect(middle, to: low)
        _ = try bench.connect(high, to: middle)
        #expect(bench.air.controller(middle)?.isActive == true)
        #expect(bench.status(bench.creation(to: high), on: middle) == .connectionAlreadyExists)
    }

    /// The parameters and the status.
    @Test(
        arguments: [
            ("1000 1000 00 01 0a000000 00c0 01 1800 2800 0000 2a00 0000 0000", .success),
            ("1000 1000 01 09 0a000000 00c0 01 1800 2800 0000 2a00 0000 0000", .success),
            ("0300 0300 00 01 0a000000 00c0 01 1800 2800 0000 2a00 0000 0000", .invalidCommandParameters),
            ("1000 1100 00 01 0a000000 00c0 01 1800 2800 0000 2a00 0000 0000", .invalidCommandParameters),
            ("1000 1000 02 01 0a000000 00c0 01 1800 2800 0000 2a00 0000 0000", .invalidCommandParameters),
            ("1000 1000 00 04 0a000000 00c0 01 1800 2800 0000 2a00 0000 0000", .invalidCommandParameters),
            (
                "1000 1000 00 02 0a000000 00c0 01 1800 2800 0000 2a00 0000 0000",
                .unsupportedFeatureOrParameterValue
            ),
            ("1000 1000 00 01 0a000000 00c0 00 1800 2800 0000 2a00 0000 0000", .invalidCommandParameters),
            (
                "1000 1000 00 01 0a000000 00c0 02 1800 2800 0000 2a00 0000 0000",
                .unsupportedFeatureOrParameterValue
            ),
            ("1000 1000 00 01 0a000000 00c0 04 1800 2800 0000 2a00 0000 0000", .invalidCommandParameters),
            ("1000 1000 00 01 0a000000 00c0 01 0500 2800 0000 2a00 0000 0000", .invalidCommandParameters),
            ("1000 1000 00 01 0a000000 00c0 01 2900 2800 0000 2a00 0000 0000", .invalidCommandParameters),
            ("1000 1000 00 01 0a000000 00c0 01 1800 2800 f401 2a00 0000 0000", .invalidCommandParameters),
            ("1000 1000 00 01 0a000000 00c0 01 1800 2800 0000 0900 0000 0000", .invalidCommandParameters),
            ("1000 1000 00 01 0a000000 00c0 01 1800 9001 0000 6400 0000 0000", .invalidCommandParameters),
            ("1000 1000 00 01 0a000000 00c0 01 1800 2800 0000 2a00 0200 0100", .invalidCommandParameters),
        ] as [(String, HCIStatus)])
    func createConnectionParametersAreValidated(_ hex: String, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.join()
        let parameters = octets(hex)
        let packet = HCICommandPacket(opcode: .leCreateConnection, parameters: parameters)
        #expect(bench.answer(packet, on: id).status == expected)
        #expect(bench.packets(id).isEmpty)
    }
}
