import BLECore
import HCI
import TestSupport
import Testing
import VirtualController

/// The commands of 7.8.61 to 7.8.63, and the rules that they add to those of advertising sets.
@Suite struct PeriodicAdvertisingTests {
    /// Handle, intervals and properties; and the status.
    @Test(
        arguments: [
            ("00 0600 0600 0000", .success), ("00 0600 ffff 4000", .success),
            ("00 0500 0600 0000", .invalidCommandParameters),
            ("00 0700 0600 0000", .invalidCommandParameters),
            ("00 0600 0600 0100", .invalidCommandParameters),
            ("01 0600 0600 0000", .unknownAdvertisingIdentifier),
            ("f0 0600 0600 0000", .invalidCommandParameters),
        ] as [(String, HCIStatus)])
    func periodicParametersAreValidated(_ hex: String, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(Bench.parameters(0, []), on: id)
        let octets = octets(hex)
        let packet = HCICommandPacket(opcode: .leSetPeriodicAdvertisingParameters, parameters: octets)
        #expect(bench.answer(packet, on: id).status == expected)
    }

    @Test(arguments: [.connectable, .scannable, .anonymous, .legacy] as [Bench.SetParameters.Properties])
    func unsuitableSetTypesCannotHaveTrain(_ properties: Bench.SetParameters.Properties) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(Bench.parameters(0, properties), on: id)
        #expect(bench.status(Bench.trainParameters(), on: id) == .invalidCommandParameters)
        // A set cannot change to such a type while its train is enabled.
        bench.perform(Bench.parameters(0, []), on: id)
        bench.perform(Bench.trainParameters(), on: id)
        bench.perform(LESetPeriodicAdvertisingEnable(enable: .on, set: Bench.set(0)), on: id)
        #expect(bench.status(Bench.parameters(0, properties), on: id) == .invalidCommandParameters)
        bench.perform(LESetPeriodicAdvertisingEnable(enable: [], set: Bench.set(0)), on: id)
        bench.perform(Bench.parameters(0, properties), on: id)
        #expect(
            bench.status(LESetPeriodicAdvertisingEnable(enable: .on, set: Bench.set(0)), on: id)
                == .commandDisallowed)
    }

    /// Whether the train is enabled, the operation, and the number of octets; and the status.
    @Test(
        arguments: [
            (false, 3, 0, .success), (false, 3, 252, .success), (true, 3, 252, .success),
            (false, 1, 1, .success), (false, 2, 1, .success), (false, 0, 1, .success),
            (false, 1, 0, .invalidCommandParameters), (false, 0, 0, .invalidCommandParameters),
            (false, 2, 0, .invalidCommandParameters), (false, 5, 1, .invalidCommandParameters),
            (true, 0, 1, .commandDisallowed), (true, 1, 1, .commandDisallowed),
            (true, 2, 1, .commandDisallowed),
            // Operation 4 keeps the data. It requires an enabled train that has data.
            (true, 4, 0, .success), (false, 4, 0, .invalidCommandParameters),
            (true, 4, 1, .invalidCommandParameters),
        ] as [(Bool, UInt8, Int, HCIStatus)])
    func periodicDataIsValidated(_ isOn: Bool, _ operation: UInt8, _ count: Int, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(Bench.parameters(0, []), on: id)
        let packet = HCICommandPacket(
            opcode: .leSetPeriodicAdvertisingData,
            parameters: [0, operation, UInt8(count)] + [UInt8](repeating: 0, count: count))
        #expect(bench.answer(packet, on: id).status == .commandDisallowed, "no parameters yet")
        bench.perform(Bench.trainParameters(), on: id)
        if isOn {
            for fragment in Bench.trainFragments([1]) {
                bench.perform(LESetPeriodicAdvertisingData(fragment: fragment), on: id)
            }
            bench.perform(LESetPeriodicAdvertisingEnable(enable: .on, set: Bench.set(0)), on: id)
        }
        #expect(bench.answer(packet, on: id).status == expected)
        let unknown = HCICommandPacket(opcode: .leSetPeriodicAdvertisingData, parameters: [1, 3, 0])
        #expect(bench.answer(unknown, on: id).status == .unknownAdvertisingIdentifier)
    }

    @Test func dataBeyondCapacityIsRefusedAndDiscarded() throws {
        var bench = Bench()
        let id = bench.joinExtended(.init(advertisingDataLength: 300))
        bench.make(Bench.parameters(0, []), on: id)
        bench.perform(Bench.trainParameters(), on: id)
        let statuses = Bench.trainFragments([UInt8](repeating: 1, count: 301)).map {
            bench.status(LESetPeriodicAdvertisingData(fragment: $0), on: id)
        }
        #expect(statuses == [.success, .memoryCapacityExceeded])
        bench.perform(LESetPeriodicAdvertisingEnable(enable: .on, set: Bench.set(0)), on: id)
        let same = try PeriodicAdvertisingDataFragment(set: Bench.set(0), operation: .unchanged, [])
        #expect(
            bench.status(LESetPeriodicAdvertisingData(fragment: same), on: id) == .invalidCommandParameters,
            "all of it is forgotten")
    }

    /// 252 octets take 2.9 ms on LE 1M; 1,000 do not fit 7.5 ms.
    @Test func dataThatExceedsIntervalFailsWithPacketTooLong() {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(Bench.parameters(0, []), on: id)
        var parameters = Bench.trainParameters(6)
        parameters.intervalMax = ConnectionInterval(rawValue: 6)
        bench.perform(parameters, on: id)
        let statuses = Bench.trainFragments([UInt8](repeating: 1, count: 1000)).map {
            bench.status(LESetPeriodicAdvertisingData(fragment: $0), on: id)
        }
        #expect(statuses.contains(.packetTooLong))
        bench.perform(Bench.trainParameters(6), on: id)
        for fragment in Bench.trainFragments([UInt8](repeating: 1, count: 1000)) {
            bench.perform(LESetPeriodicAdvertisingData(fragment: fragment), on: id)
        }
        #expect(bench.status(parameters, on: id) == .packetTooLong)
    }

    @Test func periodicEnableIsValidated() throws {
        var bench = Bench()
        let id = bench.joinExtended()
        func enable(_ octet: UInt8, _ number: UInt8 = 0) -> HCIStatus {
            bench.status(
                LESetPeriodicAdvertisingEnable(enable: .init(rawValue: octet), set: Bench.set(number)), on: id
            )
        }
        #expect(enable(1) == .unknownAdvertisingIdentifier)
        #expect(enable(0) == .unknownAdvertisingIdentifier)
        bench.make(Bench.parameters(0, []), on: id)
        #expect(enable(1) == .commandDisallowed, "no parameters yet")
        #expect(enable(0) == .success)
        bench.perform(Bench.trainParameters(), on: id)
        #expect(enable(5) == .unsupportedFeatureOrParameterValue)
        let half = try PeriodicAdvertisingDataFragment(set: Bench.set(0), operation: .first, [1])
        bench.perform(LESetPeriodicAdvertisingData(fragment: half), on: id)
        #expect(enable(1) == .commandDisallowed, "half of the data")
        bench.perform(
            LESetPeriodicAdvertisingData(fragment: try .init(set: Bench.set(0), operation: .last, [2])),
            on: id)
        #expect(enable(1) == .success)
        #expect(bench.air.deadline == nil, "no set announces it")
        #expect(bench.status(Bench.trainParameters(), on: id) == .commandDisallowed)
        #expect(bench.status(LERemoveAdvertisingSet(set: Bench.set(0)), on: id) == .commandDisallowed)
        #expect(bench.status(LEClearAdvertisingSets(), on: id) == .commandDisallowed)

        // A train that has begun continues without the set, and keeps its PHY.
        bench.enable(on: id)
        bench.perform(LESetExtendedAdvertisingEnable(enable: false), on: id)
        #expect(bench.air.deadline != nil)
        #expect(bench.status(Bench.parameters(0, [], secondary: .le2M), on: id) == .commandDisallowed)
        bench.perform(Bench.parameters(0, []), on: id)
        #expect(enable(0) == .success)
        #expect(bench.air.deadline == nil)
        bench.perform(LERemoveAdvertisingSet(set: Bench.set(0)), on: id)
    }

    @Test func periodicAdvertisingCanBeUnsupported() throws {
        var bench = Bench()
        for id in [bench.join(), bench.joinExtended(.init(periodicSyncs: 0))] {
            let features = try bench.ask(LEReadLocalSupportedFeatures(), on: id).value
            #expect(features.isDisjoint(with: [.periodicAdvertising, .periodicAdvertisingADI]))
            #expect(bench.status(Bench.trainParameters(), on: id) == .unknownCommand)
            #expect(bench.status(LEReadPeriodicAdvertiserListSize(), on: id) == .unknownCommand)
        }
        let id = bench.joinExtended()
        let features = try bench.ask(LEReadLocalSupportedFeatures(), on: id).value
        #expect(features.isSuperset(of: [.periodicAdvertising, .periodicAdvertisingADI]))
    }
}
