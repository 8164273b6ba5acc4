import BLECore
import HCI
import Testing
import VirtualController

/// Invalid commands of advertising and scanning, with the SIG's test identifiers: Bluetooth HCI Test Suite
/// (HCI.TS), 4.7, the tests of the Device Discovery group for a controller without isochronous channels.
@Suite struct HCITestSuiteTests {
    typealias Properties = Bench.SetParameters.Properties

    /// The properties of sets that can have no train: HCI/DDI/BI-15-C to BI-25-C, BI-26-C to BI-36-C, and
    /// BI-37-C to BI-47-C.
    static let withoutTrains: [Properties] = [
        0b10_0000, 0b10_0100, 0b1_0011, 0b1_0101, 0b1_1101, 0b1_0010, 0b1_0000, 0b0001, 0b0101, 0b0010,
        0b0110,
    ].map { Properties(rawValue: $0) }

    static let target = DeviceAddress(0xc000_0000_0099, type: .random)
    static let zero = Bench.set(0)

    func parameters(_ properties: Properties) -> Bench.SetParameters {
        Bench.parameters(0, properties, target: Self.target)
    }

    func train(_ enable: LESetPeriodicAdvertisingEnable.Enable) -> LESetPeriodicAdvertisingEnable {
        LESetPeriodicAdvertisingEnable(enable: enable, set: Self.zero)
    }

    /// The test HCI/DDI/BI-05-C of the test suite.
    @Test(arguments: [0x02, 0x08, 0x10, 0x20, 0x40, 0x80] as [UInt8])
    func unsupportedScanPHYsAreRefused(_ phys: UInt8) {
        var bench = Bench()
        let id = bench.joinExtended()
        let packet = HCICommandPacket(
            opcode: .leSetExtendedScanParameters, parameters: [1, 0, phys, 0, 16, 0, 16, 0])
        #expect(bench.answer(packet, on: id).status == .unsupportedFeatureOrParameterValue)
    }

    /// HCI/DDI/BI-06-C to BI-11-C: no random address has been set.
    @Test(arguments: [OwnAddressType.random, .resolvableOrRandom])
    func enableFailsWithoutRandomAddress(_ type: OwnAddressType) {
        var bench = Bench()
        var configuration = VirtualController.Configuration(
            publicAddress: DeviceAddress(0x11, type: .public), extended: .init())
        configuration.resolvingListSize = 4
        let id = bench.air.add(configuration)
        let slots = Slots(rawValue: 160)
        bench.perform(
            LESetAdvertisingParameters(intervalMin: slots, intervalMax: slots, ownAddressType: type), on: id)
        #expect(bench.status(LESetAdvertisingEnable(enable: true), on: id) == .invalidCommandParameters)
        bench.perform(
            LESetScanParameters(type: .passive, interval: slots, window: slots, ownAddressType: type), on: id)
        #expect(bench.status(LESetScanEnable(enable: true), on: id) == .invalidCommandParameters)

        bench.perform(Reset(), on: id)
        var own = parameters([])
        own.ownAddressType = type
        bench.perform(own, on: id)
        #expect(bench.status(Bench.enabling(), on: id) == .invalidCommandParameters)
        bench.perform(
            LESetExtendedScanParameters(
                ownAddressType: type,
                phys: PerPHY(.le1M, .init(type: .passive, interval: slots, window: slots))), on: id)
        #expect(bench.status(LESetExtendedScanEnable(enable: true), on: id) == .invalidCommandParameters)
    }

    /// HCI/DDI/BI-12-C: a scannable set without a response.
    @Test func scannableSetNeedsScanResponse() {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(parameters(.scannable), on: id)
        #expect(bench.status(Bench.enabling(), on: id) == .commandDisallowed)
        #expect(
            bench.status(LESetExtendedAdvertisingEnable(enable: true, sets: []), on: id)
                == .invalidCommandParameters)
    }

    /// HCI/DDI/BI-13-C, BI-14-C, BI-70-C and BV-07-C: incomplete data, fragments while the train is enabled, and
    /// no parameters.
    @Test func periodicDataIsRefusedInWrongState() throws {
        var bench = Bench()
        let id = bench.joinExtended()
        func piece(_ operation: AdvertisingDataFragment.Operation) throws -> LESetPeriodicAdvertisingData {
            LESetPeriodicAdvertisingData(fragment: try .init(set: Self.zero, operation: operation, [1]))
        }
        bench.make(parameters([]), on: id)
        #expect(bench.status(try piece(.complete), on: id) == .commandDisallowed)
        #expect(bench.status(train(.on), on: id) == .commandDisallowed)
        bench.perform(Bench.trainParameters(), on: id)
        bench.perform(try piece(.first), on: id)
        #expect(bench.status(train(.on), on: id) == .commandDisallowed)
        bench.perform(try piece(.last), on: id)
        bench.perform(train(.on), on: id)
        for operation in [AdvertisingDataFragment.Operation.intermediate, .first, .last] {
            #expect(bench.status(try piece(operation), on: id) == .commandDisallowed)
        }
        bench.perform(try piece(.complete), on: id)
    }

    /// HCI/DDI/BI-15-C to BI-25-C: another type of the set while its train is enabled.
    @Test(arguments: withoutTrains) func setTypeCannotChangeWhileTrainIsEnabled(_ properties: Properties) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(parameters([]), on: id)
        bench.perform(Bench.trainParameters(), on: id)
        bench.perform(train(.on), on: id)
        #expect(bench.status(parameters(properties), on: id) == .invalidCommandParameters)
    }

    /// HCI/DDI/BI-26-C to BI-36-C: a train for a set that can have none.
    @Test(arguments: withoutTrains)
    func periodicParametersAreRefusedForOtherSetTypes(_ properties: Properties) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.perform(parameters(properties), on: id)
        #expect(bench.status(Bench.trainParameters(), on: id) == .invalidCommandParameters)
    }

    /// HCI/DDI/BI-37-C to BI-47-C, and BI-53-C to BI-61-C while the set is enabled: the train of a set whose type
    /// has changed to one that can have none.
    @Test(arguments: withoutTrains) func trainCannotBeEnabledAfterSetTypeChange(_ properties: Properties) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(parameters([]), on: id)
        bench.perform(Bench.trainParameters(), on: id)
        let isScannable = properties.contains(.scannable)
        bench.make(parameters(properties), on: id, response: isScannable ? [1] : [])
        #expect(bench.status(train(.on), on: id) == .commandDisallowed)
        bench.enable(on: id, for: properties.contains(.highDutyCycle) ? 100 : 0)
        #expect(bench.status(train(.on), on: id) == .commandDisallowed)
    }

    /// HCI/DDI/BI-50-C and BI-51-C: 755 octets on LE 1M, or 500 on LE Coded, and then an interval of 7.5 ms.
    /// The train keeps its parameters.
    @Test(arguments: [(PHY.le1M, 755), (.leCoded, 500)])
    func periodicIntervalTooShortForDataIsRefused(_ phy: PHY, _ count: Int) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.make(Bench.parameters(0, [], secondary: phy), on: id)
        bench.perform(Bench.trainParameters(200), on: id)
        for fragment in Bench.trainFragments([UInt8](repeating: 7, count: count)) {
            bench.perform(LESetPeriodicAdvertisingData(fragment: fragment), on: id)
        }
        bench.enable(on: id)
        bench.perform(train(.on), on: id)
        bench.perform(train([]), on: id)
        let short = ConnectionInterval(rawValue: 6)
        let parameters = LESetPeriodicAdvertisingParameters(
            set: Self.zero, intervalMin: short, intervalMax: short)
        #expect(bench.status(parameters, on: id) == .packetTooLong)
        bench.perform(train(.on), on: id)
    }

    /// HCI/DDI/BI-62-C: 251 octets on LE Coded fit into 30 ms, not into 20 ms.
    @Test func advertisingIntervalTooShortForDataIsRefused() {
        var bench = Bench()
        let id = bench.joinExtended()
        func parameters(_ interval: UInt32) -> Bench.SetParameters {
            Bench.parameters(0, [], interval: interval, primary: .leCoded, secondary: .leCoded)
        }
        bench.make(parameters(48), on: id, data: [UInt8](repeating: 1, count: 251))
        #expect(bench.status(parameters(32), on: id) == .packetTooLong)
        bench.enable(on: id)
    }

    /// HCI/DDI/BI-63-C to BI-66-C: one octet more than the controller stores.
    @Test(arguments: [HCIOpcode.leSetExtendedAdvertisingData, .leSetExtendedScanResponseData])
    func dataBeyondMaximumLengthIsRefused(_ opcode: HCIOpcode) throws {
        var bench = Bench()
        let id = bench.joinExtended()
        let limit = Int(try bench.ask(LEReadMaximumAdvertisingDataLength(), on: id).value)
        let isResponse = opcode == .leSetExtendedScanResponseData
        bench.make(Bench.parameters(0, isResponse ? .scannable : [], interval: 320), on: id)
        func add(_ operation: UInt8, _ count: Int) -> HCIStatus {
            let octets = [UInt8](repeating: 3, count: count)
            return bench.answer(
                HCICommandPacket(opcode: opcode, parameters: [0, operation, 0, UInt8(count)] + octets), on: id
            ).status
        }
        var rest = limit - 1
        var operation: UInt8 = 1
        while rest > 0 {
            #expect(add(operation, min(rest, 251)) == .success)
            (rest, operation) = (rest - min(rest, 251), 0)
        }
        #expect(add(0, 2) == .memoryCapacityExceeded)
    }

    /// HCI/DDI/BI-69-C: bits that Core Specification 5.4 does not define.
    @Test(arguments: [0x84, 0x100, 0x200] as [UInt16])
    func unknownPropertyBitsAreRefused(_ properties: UInt16) {
        var bench = Bench()
        let id = bench.joinExtended()
        #expect(
            bench.status(parameters(Properties(rawValue: properties)), on: id) == .invalidCommandParameters)
    }

    /// HCI/DDI/BV-06-C: a scan without parameters uses the defaults after a reset.
    @Test func scanUsesDefaultParameters() {
        var bench = Bench()
        let id = bench.air.add(
            .init(publicAddress: DeviceAddress(0x11, type: .public), extended: .init()))
        bench.perform(LESetExtendedScanEnable(enable: true), on: id)
        let slots = Slots(rawValue: 16)
        #expect(
            bench.status(
                LESetExtendedScanParameters(
                    ownAddressType: .public,
                    phys: PerPHY(.le1M, .init(type: .passive, interval: slots, window: slots))), on: id)
                == .commandDisallowed)
    }

    /// HCI/DDI/BI-04-C: a train to which the receiver is synchronized already, even if its sender has stopped.
    @Test func secondSyncToSameTrainIsRefused() throws {
        var (bench, sender, receiver, sync) = try Bench.train(timeout: 1000)
        let following = bench.following(sender)
        #expect(bench.status(following, on: receiver) == .connectionAlreadyExists)
        bench.perform(train([]), on: sender)
        bench.run(for: .seconds(1))
        #expect(bench.status(following, on: receiver) == .connectionAlreadyExists)
        bench.perform(LEPeriodicAdvertisingTerminateSync(sync: sync), on: receiver)
        bench.perform(following, on: receiver)
    }
}
