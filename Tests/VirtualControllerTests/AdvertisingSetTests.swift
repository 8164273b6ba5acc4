import BLECore
import HCI
import TestSupport
import Testing
import VirtualController

/// The commands of 7.8.52 to 7.8.60, and the parameters that they refuse.
@Suite struct AdvertisingSetTests {
    /// The parameters and the status. The parameters are handle, properties, intervals, channels, own address
    /// type, peer, filter, power, primary PHY, skip, secondary PHY, SID and notification.
    @Test(
        arguments: [
            ("00 0000 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .success),
            ("ef 0000 200000 ffffff 07 01 00 000000000000 03 14 03 ff 03 0f 01", .success),
            ("f0 0000 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            // Properties: those of legacy packets, a reserved one, and invalid combinations.
            ("00 1300 200000 200000 07 01 00 000000000000 00 7f 01 00 00 00 00", .success),
            ("00 1d00 000000 000000 07 01 00 000000000000 00 7f 01 00 00 00 00", .success),
            ("00 1100 200000 200000 07 01 00 000000000000 00 7f 01 00 00 00 00", .invalidCommandParameters),
            ("00 5000 200000 200000 07 01 00 000000000000 00 7f 01 00 00 00 00", .invalidCommandParameters),
            ("00 8000 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            ("00 0300 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            ("00 0d00 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            ("00 2100 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            ("00 2000 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .success),
            // Intervals.
            ("00 0000 1f0000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            ("00 0000 300000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            // Channels, own address type, peer, filter.
            ("00 0000 200000 200000 00 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            ("00 0000 200000 200000 08 01 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            ("00 0000 200000 200000 07 04 00 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            (
                "00 0000 200000 200000 07 02 00 000000000000 00 7f 01 00 01 00 00",
                .unsupportedFeatureOrParameterValue
            ),
            ("00 0400 200000 200000 07 01 02 000000000000 00 7f 01 00 01 00 00", .invalidCommandParameters),
            ("00 0000 200000 200000 07 01 00 000000000000 04 7f 01 00 01 00 00", .invalidCommandParameters),
            // Power, PHYs, SID, notification.
            ("00 0000 200000 200000 07 01 00 000000000000 00 15 01 00 01 00 00", .invalidCommandParameters),
            ("00 0000 200000 200000 07 01 00 000000000000 00 7f 02 00 01 00 00", .invalidCommandParameters),
            ("00 0000 200000 200000 07 01 00 000000000000 00 7f 01 00 00 00 00", .invalidCommandParameters),
            ("00 0000 200000 200000 07 01 00 000000000000 00 7f 01 00 04 00 00", .invalidCommandParameters),
            ("00 1000 200000 200000 07 01 00 000000000000 00 7f 03 00 01 00 00", .invalidCommandParameters),
            ("00 0000 200000 200000 07 01 00 000000000000 00 7f 01 00 01 10 00", .invalidCommandParameters),
            ("00 0000 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 02", .invalidCommandParameters),
        ] as [(String, HCIStatus)])
    func extendedAdvertisingParametersAreValidated(_ hex: String, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.joinExtended { $0.resolvingListSize = 0 }
        let octets = octets(hex)
        let packet = HCICommandPacket(opcode: .leSetExtendedAdvertisingParameters, parameters: octets)
        let answer = bench.answer(packet, on: id)
        #expect(answer.status == expected)
        #expect(answer.returned.count == 1)
    }

    @Test func unsupportedPHYsAreRefused() {
        var bench = Bench()
        let id = bench.joinExtended(.init(phys: []))
        for (primary, secondary) in [(PHY.leCoded, PHY.le1M), (.le1M, .le2M), (.le1M, .leCoded)] {
            #expect(
                bench.status(Bench.parameters(0, [], primary: primary, secondary: secondary), on: id)
                    == .unsupportedFeatureOrParameterValue)
        }
    }

    @Test func setsAreCreatedRemovedAndCleared() throws {
        var bench = Bench()
        let id = bench.joinExtended(.init(advertisingSets: 2))
        #expect(try bench.ask(LEReadNumberOfSupportedAdvertisingSets(), on: id).value == 2)
        #expect(try bench.ask(LEReadMaximumAdvertisingDataLength(), on: id).value == 1650)
        bench.make(Bench.parameters(7, []), on: id)
        bench.make(Bench.parameters(9, .connectable), on: id)
        #expect(bench.status(Bench.parameters(8, []), on: id) == .memoryCapacityExceeded)
        #expect(bench.status(Bench.parameters(7, []), on: id) == .success, "it is there already")
        bench.enable(7, on: id)
        #expect(bench.status(Bench.parameters(7, []), on: id) == .commandDisallowed)
        #expect(bench.status(LERemoveAdvertisingSet(set: Bench.set(7)), on: id) == .commandDisallowed)
        #expect(bench.status(LEClearAdvertisingSets(), on: id) == .commandDisallowed)
        bench.perform(LESetExtendedAdvertisingEnable(enable: false), on: id)
        bench.perform(LERemoveAdvertisingSet(set: Bench.set(7)), on: id)
        #expect(
            bench.status(LERemoveAdvertisingSet(set: Bench.set(7)), on: id) == .unknownAdvertisingIdentifier)
        #expect(
            bench.status(LERemoveAdvertisingSet(set: Bench.set(0xf0)), on: id) == .invalidCommandParameters)
        bench.perform(LEClearAdvertisingSets(), on: id)
        #expect(bench.status(Bench.enabling(9), on: id) == .unknownAdvertisingIdentifier)
        #expect(bench.air.deadline == nil)
    }

    @Test func eachSetNeedsItsOwnRandomAddress() {
        var bench = Bench()
        let id = bench.joinExtended()
        let address = DeviceAddress(0xc0de_0000_0001, type: .random)
        func setting(_ number: UInt8) -> LESetAdvertisingSetRandomAddress {
            LESetAdvertisingSetRandomAddress(set: Bench.set(number), address: address)
        }
        #expect(bench.status(setting(1), on: id) == .unknownAdvertisingIdentifier)
        bench.perform(Bench.parameters(1, .connectable), on: id)
        bench.perform(Bench.parameters(2, []), on: id)
        // LE Set Random Address does not set the address of a set.
        #expect(bench.status(Bench.enabling(1), on: id) == .invalidCommandParameters)
        for number: UInt8 in [1, 2] {
            bench.perform(setting(number), on: id)
            bench.enable(number, on: id)
        }
        #expect(bench.status(setting(1), on: id) == .commandDisallowed, "one can connect to it")
        bench.perform(setting(2), on: id)
        // LE Set Random Address is allowed while an advertising set is enabled.
        bench.perform(LESetRandomAddress(address: address), on: id)
        var own = Bench.parameters(3, [])
        own.ownAddressType = .public
        bench.perform(own, on: id)
        #expect(bench.status(Bench.enabling(3), on: id) == .invalidCommandParameters, "no public address")
    }

    @Test func txPowerIsClampedToControllerRange() throws {
        var bench = Bench()
        let id = bench.joinExtended(.init()) {
            ($0.transmitPower, $0.minimumTransmitPower) = (8, -12)
        }
        let limits = try bench.ask(LEReadTransmitPower(), on: id)
        #expect(limits == LEReadTransmitPower.ReturnParameters(minimum: -12, maximum: 8))
        for (wanted, chosen): (Int8, Int8) in [(127, 8), (20, 8), (0, 0), (-12, -12), (-127, -12)] {
            var parameters = Bench.parameters(0, [])
            parameters.txPower = wanted
            #expect(try bench.ask(parameters, on: id).value == chosen)
        }
    }

    /// The properties of the set, whether it is enabled, the operation, the fragment preference, the number of
    /// octets, and the status.
    @Test(
        arguments: [
            ([], false, 3, 0, 0, .success), ([], false, 3, 1, 251, .success),
            ([], false, 5, 0, 1, .invalidCommandParameters), ([], false, 3, 2, 1, .invalidCommandParameters),
            ([], false, 1, 0, 0, .invalidCommandParameters), ([], false, 0, 0, 0, .invalidCommandParameters),
            ([], false, 2, 0, 1, .success), ([], true, 3, 0, 251, .success),
            ([], true, 1, 0, 1, .commandDisallowed), ([], true, 0, 0, 1, .commandDisallowed),
            ([], true, 2, 0, 1, .commandDisallowed),
            // Operation 4 keeps the data. It requires an enabled set that has data.
            ([], true, 4, 0, 0, .success), ([], false, 4, 0, 0, .invalidCommandParameters),
            ([], true, 4, 0, 1, .invalidCommandParameters),
            ([.legacy], true, 4, 0, 0, .invalidCommandParameters),
            // Legacy packets.
            ([.legacy], false, 3, 0, 31, .success), ([.legacy], false, 3, 0, 32, .invalidCommandParameters),
            ([.legacy], false, 1, 0, 31, .invalidCommandParameters),
            ([.legacy, .connectable, .directed], false, 3, 0, 1, .invalidCommandParameters),
            // Scannable extended advertising has data in its scan response only.
            ([.scannable], false, 3, 0, 1, .invalidCommandParameters),
            // Connectable advertising data must fit one packet, but only while the set is enabled.
            ([.connectable], false, 3, 0, 251, .success), ([.connectable], true, 3, 0, 245, .success),
            ([.connectable], true, 3, 0, 246, .packetTooLong),
        ] as [(Bench.SetParameters.Properties, Bool, UInt8, UInt8, Int, HCIStatus)])
    func advertisingDataCommandIsValidated(
        _ properties: Bench.SetParameters.Properties, _ isEnabled: Bool, _ operation: UInt8,
        _ preference: UInt8, _ count: Int, _ expected: HCIStatus
    ) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(Bench.parameters(0, properties), on: id, data: isEnabled ? [2, 1, 6] : [])
        if isEnabled { bench.enable(on: id) }
        let packet = HCICommandPacket(
            opcode: .leSetExtendedAdvertisingData,
            parameters: [0, operation, preference, UInt8(count)] + [UInt8](repeating: 0, count: count))
        #expect(bench.answer(packet, on: id).status == expected)
    }

    @Test(
        arguments: [
            ([.scannable], false, 3, 251, .success), ([.scannable], false, 1, 1, .success),
            ([.scannable], false, 4, 0, .invalidCommandParameters),
            ([.scannable], false, 2, 0, .invalidCommandParameters),
            ([.scannable], true, 1, 1, .commandDisallowed), ([.scannable], true, 3, 0, .commandDisallowed),
            ([.scannable], true, 3, 9, .success),
            ([.legacy, .scannable], false, 3, 31, .success),
            ([.legacy, .scannable], false, 3, 32, .invalidCommandParameters),
            ([.legacy, .scannable], false, 1, 9, .invalidCommandParameters),
            ([], false, 3, 1, .invalidCommandParameters), ([], false, 3, 0, .success),
        ] as [(Bench.SetParameters.Properties, Bool, UInt8, Int, HCIStatus)])
    func scanResponseDataCommandIsValidated(
        _ properties: Bench.SetParameters.Properties, _ isEnabled: Bool, _ operation: UInt8, _ count: Int,
        _ expected: HCIStatus
    ) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(Bench.parameters(0, properties), on: id, response: isEnabled ? [1, 2] : [])
        if isEnabled { bench.enable(on: id) }
        let packet = HCICommandPacket(
            opcode: .leSetExtendedScanResponseData,
            parameters: [0, operation, 0, UInt8(count)] + [UInt8](repeating: 0, count: count))
        #expect(bench.answer(packet, on: id).status == expected)
    }

    @Test func dataBeyondCapacityIsRefusedAndDiscarded() throws {
        var bench = Bench()
        let id = bench.joinExtended(.init(advertisingDataLength: 300))
        bench.perform(Bench.parameters(0, []), on: id)
        func fragment(_ operation: AdvertisingDataFragment.Operation, _ count: Int) throws
            -> LESetExtendedAdvertisingData
        {
            LESetExtendedAdvertisingData(
                fragment: try AdvertisingDataFragment(
                    set: Bench.set(0), operation: operation, [UInt8](repeating: 1, count: count)))
        }
        bench.perform(try fragment(.first, 251), on: id)
        bench.perform(try fragment(.intermediate, 49), on: id)
        #expect(bench.status(try fragment(.last, 1), on: id) == .memoryCapacityExceeded)
        bench.perform(
            LESetAdvertisingSetRandomAddress(set: Bench.set(0), address: bench.address(id)), on: id)
        bench.enable(on: id)
        #expect(
            bench.status(try fragment(.unchanged, 0), on: id) == .invalidCommandParameters,
            "all of it is forgotten")
        let unknown = try AdvertisingDataFragment(set: Bench.set(1), [])
        #expect(
            bench.status(LESetExtendedAdvertisingData(fragment: unknown), on: id)
                == .unknownAdvertisingIdentifier)
    }

    /// 1,650 octets on LE Coded take more than 100 ms.
    @Test func dataThatExceedsIntervalFailsWithPacketTooLong() throws {
        var bench = Bench()
        let id = bench.joinExtended()
        let data = [UInt8](repeating: 7, count: 1650)
        bench.make(Bench.parameters(0, [], interval: 320, secondary: .leCoded), on: id, data: data)
        bench.enable(on: id)
        bench.perform(LESetExtendedAdvertisingEnable(enable: false), on: id)
        #expect(
            bench.status(Bench.parameters(0, [], interval: 32, secondary: .leCoded), on: id)
                == .packetTooLong)
        bench.perform(Bench.parameters(1, [], interval: 32, secondary: .leCoded), on: id)
        let statuses = Bench.fragments(data, Bench.set(1)).map {
            bench.status(LESetExtendedAdvertisingData(fragment: $0), on: id)
        }
        #expect(statuses.contains(.packetTooLong))
    }

    @Test func parametersIncompatibleWithDataAreRefused() {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(Bench.parameters(0, []), on: id, data: [UInt8](repeating: 0, count: 32))
        for properties: Bench.SetParameters.Properties in [
            .legacy, .scannable, [.legacy, .connectable, .directed],
        ] {
            #expect(
                bench.status(Bench.parameters(0, properties), on: id) == .invalidCommandParameters)
        }
        bench.make(Bench.parameters(1, .scannable), on: id, response: [1])
        #expect(bench.status(Bench.parameters(1, []), on: id) == .invalidCommandParameters)
        bench.perform(Bench.parameters(0, .connectable), on: id)
    }

    @Test func enableCommandIsValidated() throws {
        var bench = Bench()
        let id = bench.joinExtended()
        func enable(_ flag: UInt8, _ sets: [(UInt8, UInt16)]) -> HCIStatus {
            bench.status(
                LESetExtendedAdvertisingEnable(
                    enable: HCIFlag(rawValue: flag),
                    sets: sets.map {
                        .init(set: Bench.set($0.0), duration: Centiseconds(rawValue: $0.1))
                    }), on: id)
        }
        #expect(enable(1, []) == .invalidCommandParameters)
        #expect(enable(2, [(0, 0)]) == .invalidCommandParameters)
        #expect(enable(1, [(0, 0)]) == .unknownAdvertisingIdentifier)
        #expect(enable(0, [(0, 0)]) == .unknownAdvertisingIdentifier)
        #expect(enable(0, []) == .success)
        bench.make(Bench.parameters(0, []), on: id)
        #expect(enable(1, [(0, 0), (0, 0)]) == .invalidCommandParameters)
        #expect(enable(1, [(0, 0), (1, 0)]) == .unknownAdvertisingIdentifier)
        #expect(bench.air.deadline == nil, "all or none")
        // A high duty cycle lasts 1.28 s at most.
        bench.make(
            Bench.parameters(
                1, [.legacy, .connectable, .directed, .highDutyCycle], target: .init(1, type: .random)),
            on: id)
        #expect(enable(1, [(1, 0)]) == .invalidCommandParameters)
        #expect(enable(1, [(1, 129)]) == .invalidCommandParameters)
        #expect(enable(1, [(1, 128)]) == .success)
        // Incomplete data, no scan response, and data that exceed one packet.
        bench.make(Bench.parameters(2, []), on: id)
        bench.perform(
            LESetExtendedAdvertisingData(
                fragment: try AdvertisingDataFragment(set: Bench.set(2), operation: .first, [1])), on: id)
        #expect(enable(1, [(2, 0)]) == .commandDisallowed)
        bench.make(Bench.parameters(3, .scannable), on: id)
        #expect(enable(1, [(3, 0)]) == .commandDisallowed)
        bench.perform(LERemoveAdvertisingSet(set: Bench.set(3)), on: id)
        bench.make(
            Bench.parameters(3, .connectable), on: id, data: [UInt8](repeating: 1, count: 246))
        #expect(enable(1, [(3, 0)]) == .invalidCommandParameters)
    }
}
