import BLECore
import HCI
import Testing
import VirtualController

/// Legacy and extended commands exclude each other (Core Specification 5.4, Vol 4, Part E, 3.1.1).
@Suite struct FamilyTests {
    static let legacy: [HCIOpcode] = [
        .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
        .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable,
        .leCreateConnection,
    ]
    static let extended: [HCIOpcode] = [
        .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
        .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
        .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
        .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
        .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
        .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingTerminateSync,
        .leAddDeviceToPeriodicAdvertiserList, .leRemoveDeviceFromPeriodicAdvertiserList,
        .leReadPeriodicAdvertiserListSize, .leSetPeriodicAdvertisingReceiveEnable,
    ]

    @Test(arguments: [(legacy, extended), (extended, legacy)])
    func firstCommandFamilyExcludesTheOther(_ first: [HCIOpcode], _ second: [HCIOpcode]) {
        var bench = Bench()
        let id = bench.joinExtended()
        for opcode in first {
            bench.perform(Reset(), on: id)
            // A refused command selects the family, too.
            #expect(bench.answer(HCICommandPacket(opcode: opcode), on: id).status != .commandDisallowed)
            for other in second {
                #expect(bench.answer(HCICommandPacket(opcode: other), on: id).status == .commandDisallowed)
            }
            for same in first {
                #expect(bench.answer(HCICommandPacket(opcode: same), on: id).status != .commandDisallowed)
            }
        }
    }

    @Test func legacyControllerRejectsExtendedCommands() {
        var bench = Bench()
        let id = bench.join()
        for opcode in Self.extended + [.leReadPHY, .leSetPHY, .leSetDefaultPHY, .leReadTransmitPower] {
            #expect(bench.answer(HCICommandPacket(opcode: opcode), on: id).status == .unknownCommand)
        }
        #expect(bench.status(LESetAdvertisingEnable(enable: false), on: id) == .success)
    }

    /// In every configuration, a controller reports exactly the features that it supports, and a command has its
    /// bit if and only if the answer is not Unknown HCI Command.
    @Test(arguments: [nil, [], [.le2M], [.leCoded], [.le2M, .leCoded]] as [Set<PHY>?], [0, 4] as [UInt8])
    func supportedCommandsAndFeaturesAreExact(_ phys: Set<PHY>?, _ count: UInt8) throws {
        var configuration = VirtualController.Configuration(
            extended: phys.map { .init(phys: $0, periodicSyncs: count) })
        configuration.resolvingListSize = count
        var bench = Bench()
        let id = bench.join(configuration)
        let isExtended = phys != nil
        var expected: LEFeatures = [
            .encryption, .peripheralInitiatedFeaturesExchange, .ping, .dataPacketLengthExtension,
        ]
        if count > 0 { expected.formUnion([.privacy, .extendedScanningFilterPolicies]) }
        if isExtended {
            expected.formUnion([
                .extendedAdvertising, .channelSelectionAlgorithm2, .connectionParametersRequest,
            ])
        }
        if isExtended, count > 0 { expected.formUnion([.periodicAdvertising, .periodicAdvertisingADI]) }
        if phys?.contains(.le2M) == true { expected.insert(.le2MPHY) }
        if phys?.contains(.leCoded) == true { expected.insert(.leCodedPHY) }
        #expect(try bench.ask(LEReadLocalSupportedFeatures(), on: id).value == expected)

        let supported = try bench.ask(ReadLocalSupportedCommands(), on: id).value
        #expect(supported.contains(.leSetExtendedAdvertisingEnable) == isExtended)
        #expect(supported.contains(.leSetPHY) == isExtended)
        #expect(supported.contains(.leSetPeriodicAdvertisingEnable) == (isExtended && count > 0))
        #expect(supported.contains(.lePeriodicAdvertisingCreateSync) == (isExtended && count > 0))
        #expect(supported.contains(.leSetAddressResolutionEnable) == (count > 0))
        var count = 0
        for group: UInt8 in 0x01...0x08 {
            for command: UInt16 in 0...0x3ff where group == 0x08 || command < 0x80 {
                let opcode = HCIOpcode(ogf: group, ocf: command)
                // This command has no bit.
                if opcode == .readLocalSupportedCommands { continue }
                let known = bench.answer(HCICommandPacket(opcode: opcode), on: id).status
                #expect((known != .unknownCommand) == supported.contains(opcode), "\(opcode)")
                if known != .unknownCommand { count += 1 }
            }
        }
        // No other bit is set.
        #expect((0..<64).reduce(0) { $0 + supported.octets[$1].nonzeroBitCount } == count)
    }

    /// Hosts of both families receive legacy packets. Only hosts of the extended family receive other packets.
    @Test func onlyExtendedScannersReceiveExtendedPackets() throws {
        var bench = Bench()
        let (legacyAdvertiser, advertiser) = (bench.join(), bench.joinExtended())
        let (old, oldFamily, new) = (bench.join(), bench.joinExtended(), bench.joinExtended())
        bench.scan(on: old)
        bench.scan(on: oldFamily)
        bench.scanExtended(on: new)
        bench.advertise(on: legacyAdvertiser)
        bench.make(
            Bench.parameters(0, [.legacy, .connectable, .scannable]), on: advertiser, data: [2, 1, 6])
        bench.make(Bench.parameters(1, [], sid: 5), on: advertiser, data: [2, 1, 4])
        bench.enable(0, on: advertiser)
        bench.enable(1, on: advertiser)
        bench.run(for: .milliseconds(50))
        for id in [old, oldFamily] {
            #expect(bench.reports(id).map(\.data) == [[2, 1, 6], [2, 1, 6]])
        }
        let reports = bench.extendedReports(new)
        #expect(reports.count == 3)
        #expect(reports.map(\.sid).sorted() == [5, 0xff, 0xff])
        let types = reports.map(\.type)
        #expect(types.filter { $0 == [.legacy, .connectable, .scannable] }.count == 2)
        #expect(types.contains([]))
    }
}
