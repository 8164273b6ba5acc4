import BLECore
import HCI
import Testing
import VirtualController

@Suite struct LinkTests {
    @Test func remoteFeaturesAndVersionAreRead() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        for (id, handle) in [(central, one), (peripheral, other)] {
            bench.perform(LEReadRemoteFeatures(connection: handle), on: id)
            bench.perform(ReadRemoteVersionInformation(connection: handle), on: id)
            #expect(
                bench.events(id) == [
                    .leMeta(
                        .readRemoteFeaturesComplete(
                            LEReadRemoteFeaturesComplete(
                                connection: handle,
                                features: [
                                    .encryption, .peripheralInitiatedFeaturesExchange, .ping,
                                    .dataPacketLengthExtension,
                                ]))
                    ),
                    .readRemoteVersionInformationComplete(
                        ReadRemoteVersionInformationComplete(
                            connection: handle, version: .v4_2, company: 0xffff, subversion: 0)),
                ])
        }
    }

    @Test func connectionUpdateIsReportedToBothSides() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        var parameters = Bench.parameters
        parameters.intervalMin = ConnectionInterval(rawValue: 36)
        parameters.latency = 2
        parameters.supervisionTimeout = Centiseconds(rawValue: 100)
        func expected(_ handle: ConnectionHandle) -> HCIEvent {
            .leMeta(
                .connectionUpdateComplete(
                    LEConnectionUpdateComplete(
                        connection: handle, interval: ConnectionInterval(rawValue: 36), latency: 2,
                        supervisionTimeout: Centiseconds(rawValue: 100))))
        }
        bench.perform(LEConnectionUpdate(connection: one, parameters: parameters), on: central)
        #expect(bench.events(central) == [expected(one)])
        #expect(bench.events(peripheral) == [expected(other)])
        // An update without a change is reported only to the host that requested it.
        bench.perform(LEConnectionUpdate(connection: one, parameters: parameters), on: central)
        #expect(bench.events(central) == [expected(one)])
        #expect(bench.events(peripheral).isEmpty)

        #expect(
            bench.status(LEConnectionUpdate(connection: other, parameters: parameters), on: peripheral)
                == .unsupportedRemoteFeature)
        parameters.latency = 500
        #expect(
            bench.status(LEConnectionUpdate(connection: one, parameters: parameters), on: central)
                == .invalidCommandParameters)
    }

    @Test func rssiAndTransmitPowerAreRead() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        #expect(
            try bench.ask(ReadRSSI(connection: one), on: central) == ReturnedForConnection(one, -50))
        bench.setRSSI(-77, between: peripheral, and: central)
        #expect(try bench.ask(ReadRSSI(connection: one), on: central).value == -77)
        #expect(try bench.ask(ReadRSSI(connection: other), on: peripheral).value == -77)
        #expect(
            try bench.ask(ReadTransmitPowerLevel(connection: one, kind: .maximum), on: central)
                == ReturnedForConnection(one, 0))
        #expect(
            bench.status(
                ReadTransmitPowerLevel(connection: one, kind: .init(rawValue: 2)), on: central)
                == .invalidCommandParameters)
    }

    @Test func centralSetsChannelMap() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        #expect(try bench.ask(LEReadChannelMap(connection: one), on: central).value == .all)
        let map = ChannelMap(rawValue: 0x0f_0000_00ff)
        bench.perform(LESetHostChannelClassification(channels: map), on: central)
        #expect(try bench.ask(LEReadChannelMap(connection: one), on: central).value == map)
        #expect(try bench.ask(LEReadChannelMap(connection: other), on: peripheral).value == map)
        // The peripheral's classification has no effect, and reserved bits are not channels.
        bench.perform(
            LESetHostChannelClassification(channels: ChannelMap(rawValue: 0xe0_0000_0003)), on: peripheral)
        #expect(try bench.ask(LEReadChannelMap(connection: other), on: peripheral).value == map)
        #expect(
            bench.status(
                LESetHostChannelClassification(channels: ChannelMap(rawValue: 0xe0_0000_0000)), on: central)
                == .invalidCommandParameters)
    }

    @Test func dataLengthChangeIsReportedToBothSides() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        let long = DataLength(octets: 251, time: 2120)
        let short = DataLength(octets: 27, time: 328)
        let returned = try bench.ask(LESetDataLength(connection: one, transmit: long), on: central)
        #expect(returned.value == one)
        #expect(
            bench.events(central) == [
                .leMeta(
                    .dataLengthChange(LEDataLengthChange(connection: one, transmit: long, receive: short)))
            ])
        #expect(
            bench.events(peripheral) == [
                .leMeta(
                    .dataLengthChange(LEDataLengthChange(connection: other, transmit: short, receive: long)))
            ])
        // The same length is no change, and is not reported.
        _ = try bench.ask(LESetDataLength(connection: one, transmit: long), on: central)
        #expect(bench.events(central).isEmpty && bench.events(peripheral).isEmpty)
        #expect(
            try bench.ask(LEReadMaximumDataLength(), on: central)
                == LEReadMaximumDataLength.ReturnParameters(transmit: long, receive: long))
        for wrong in [
            DataLength(octets: 26, time: 328), DataLength(octets: 252, time: 2120),
            DataLength(octets: 27, time: 327), DataLength(octets: 27, time: 17_041),
        ] {
            #expect(
                bench.status(LESetDataLength(connection: one, transmit: wrong), on: central)
                    == .invalidCommandParameters)
            #expect(
                bench.status(LEWriteSuggestedDefaultDataLength(transmit: wrong), on: central)
                    == .invalidCommandParameters)
        }
    }

    @Test func suggestedDataLengthAppliesToNewLinks() throws {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        let long = DataLength(octets: 100, time: 2120)
        #expect(
            try bench.ask(LEReadSuggestedDefaultDataLength(), on: central)
                == DataLength(octets: 27, time: 328))
        bench.perform(LEWriteSuggestedDefaultDataLength(transmit: long), on: central)
        #expect(try bench.ask(LEReadSuggestedDefaultDataLength(), on: central) == long)
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.advertise(on: peripheral)
        bench.run(for: .milliseconds(100))
        let changes = bench.events(peripheral).compactMap {
            if case .leMeta(.dataLengthChange(let event)) = $0 { event } else { nil }
        }
        #expect(changes.map(\.receive) == [long])
    }

    /// Sends commands with the handle of a connection that does not exist.
    @Test func commandsForUnknownConnectionsAreRefused() {
        var bench = Bench()
        let id = bench.join()
        let nowhere = ConnectionHandle(0x0123)
        let statuses = [
            bench.status(Disconnect(connection: nowhere), on: id),
            bench.status(ReadRemoteVersionInformation(connection: nowhere), on: id),
            bench.status(LEReadRemoteFeatures(connection: nowhere), on: id),
            bench.status(LEConnectionUpdate(connection: nowhere, parameters: Bench.parameters), on: id),
            bench.status(ReadRSSI(connection: nowhere), on: id),
            bench.status(ReadTransmitPowerLevel(connection: nowhere), on: id),
            bench.status(LEReadChannelMap(connection: nowhere), on: id),
            bench.status(
                LESetDataLength(connection: nowhere, transmit: DataLength(octets: 27, time: 328)), on: id),
        ]
        #expect(statuses == [HCIStatus](repeating: .unknownConnectionIdentifier, count: 8))
        #expect(bench.packets(id).isEmpty)
    }
}
