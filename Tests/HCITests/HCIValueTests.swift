import BLECore
import HCI
import Testing

/// The values of which parameters consist.
@Suite struct HCIValueTests {
    @Test func opcodesCombineGroupAndCommand() {
        let opcode = HCIOpcode(ogf: 0x08, ocf: 0x000c)
        #expect(opcode == .leSetScanEnable)
        #expect(opcode.ogf == 0x08 && opcode.ocf == 0x00c)
        #expect(HCIOpcode(ogf: 0xff, ocf: 0xffff).rawValue == 0xffff)
        #expect("\(opcode)" == "LE Set Scan Enable")
        #expect("\(HCIOpcode(ogf: 0x01, ocf: 1))" == "Inquiry")
        #expect("\(HCIOpcode(ogf: 0x3f, ocf: 1))" == "0xfc01")
    }

    @Test func codesPrintSpecificationNames() {
        #expect("\(HCIStatus.commandDisallowed)" == "Command Disallowed (0x0c)")
        #expect("\(HCIStatus(rawValue: 0xfe))" == "(0xfe)")
        #expect(HCIStatus.tooEarly.rawValue == 0x47)
        #expect(HCIStatus.connectionFailedToBeEstablished.rawValue == 0x3e)
        #expect("\(HCIEventCode.numberOfCompletedPackets)" == "Number Of Completed Packets")
        #expect("\(HCIEventCode(rawValue: 0x60))" == "0x60")
        #expect("\(LESubevent.extendedAdvertisingReport)" == "LE Extended Advertising Report")
        #expect("\(LESubevent(rawValue: 0xf0))" == "0xf0")
        #expect("\(CoreVersion.v5_4)" == "5.4" && "\(CoreVersion(rawValue: 99))" == "0x63")
        #expect("\(PHY.leCoded)" == "coded" && "\(PHY(rawValue: 9))" == "0x09")
        #expect("\(HCIFlag(true)) \(HCIFlag(false)) \(HCIFlag(rawValue: 7))" == "true false 0x07")
    }

    @Test func durationsConvertToSteps() {
        #expect(Slots(.milliseconds(100)).rawValue == 160)
        #expect(Slots(rawValue: 0x4000).duration == .milliseconds(10_240))
        #expect(Slots(.microseconds(900)).rawValue == 1)
        #expect(Slots(.microseconds(938)).rawValue == 2)
        #expect(Slots(.seconds(-1)).rawValue == 0)
        #expect(Slots(.seconds(1_000_000)).rawValue == 0xffff)
        #expect(LongSlots(.seconds(1_000_000)).rawValue == 0xff_ffff)
        #expect(ConnectionInterval(.microseconds(7500)).rawValue == 6)
        #expect(Centiseconds(.seconds(4)).rawValue == 400)
        #expect(ScanPeriod(.seconds(128)).rawValue == 100)
        #expect(Centiseconds(rawValue: 1).duration < Centiseconds(rawValue: 2).duration)
    }

    @Test func masksContainEvents() {
        let mask: LEEventMask = [.connectionComplete, .extendedAdvertisingReport]
        #expect(mask.rawValue == 0x1001)
        #expect(mask.contains(.connectionComplete) && !mask.contains(.advertisingReport))
        #expect(LEEventMask.default.contains(.longTermKeyRequest))
        #expect(
            !HCIEventMask.default.contains(.leMeta) && HCIEventMask.default.contains(.disconnectionComplete))
        #expect(HCIEventMask([HCIEventCode(rawValue: 0x57)]).rawValue == 0)
        #expect(HCIEventMaskPage2([.hardwareError]).rawValue == 0)
        #expect(HCIEventMaskPage2([.authenticatedPayloadTimeoutExpired]).rawValue == 1 << 23)
    }

    @Test func addressesKeepTheirType() {
        let random = DeviceAddress(0xc0ff_ee01_0203, type: .random)
        #expect(HCIAddress(random) == peer)
        #expect(peer.deviceAddress == random)
        #expect(HCIAddress(1, type: .publicIdentity).deviceAddress == DeviceAddress(1, type: .public))
        #expect(HCIAddress(1, type: .publicIdentity).isResolved && !peer.isResolved)
        #expect(HCIAddress(1, type: .anonymous).deviceAddress == nil)
        #expect(HCIAddress(1, type: HCIAddressType(rawValue: 0x77)).deviceAddress == nil)
    }

    @Test func channelMapHoldsOnlyDataChannels() {
        #expect(ChannelMap.all.contains(0) && ChannelMap.all.contains(36))
        #expect(!ChannelMap(rawValue: .max).contains(37) && !ChannelMap.all.contains(-1))
    }

    @Test func eventTypeKeepsDataStatus() {
        for status in [AdvertisingEventType.DataStatus.complete, .moreToCome, .truncated, .reserved] {
            let type = AdvertisingEventType([.connectable, .legacy]).with(status)
            #expect(type.dataStatus == status)
            #expect(type.isSuperset(of: [.connectable, .legacy]))
        }
    }

    @Test func phyPreferenceReportsNoPreference() {
        #expect(PHYPreference(transmit: nil, receive: .le1M).noPreference == .transmit)
        #expect(PHYPreference(transmit: nil, receive: nil).noPreference == [.transmit, .receive])
    }
}
