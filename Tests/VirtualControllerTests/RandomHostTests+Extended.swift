import BLECore
import HCI
import VirtualController

extension RandomHostTests {
    /// Returns a random extended command, with parameters that are often in range.
    static func extendedCommand(_ random: inout SplitMix64) -> HCICommandPacket {
        let set = AdvertisingHandle(rawValue: .random(in: 0...5, using: &random))
        let connection = ConnectionHandle(UInt16.random(in: 0x3f...0x44, using: &random))
        let address = HCIAddress(
            0xc000_0000_0000 + UInt64.random(in: 0...4, using: &random), type: .random)
        let flag = HCIFlag(rawValue: .random(in: 0...1, using: &random))
        let phys = PHYSet(rawValue: [1, 1, 1, 4, 5, 7, 3, 0, 9].randomElement(using: &random) ?? 1)
        let phy = PHY(rawValue: .random(in: 1...3, using: &random))
        let octets = (0..<Int.random(in: 0...251, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
        switch Int.random(in: 0..<37, using: &random) {
        case 34: return LEConnectionUpdate(connection: connection, parameters: Bench.parameters).packet
        case 35:
            return LERemoteConnectionParameterRequestReply(
                connection: connection, parameters: Bench.parameters
            ).packet
        case 36: return LERemoteConnectionParameterRequestNegativeReply(connection: connection).packet
        case 24...28: return periodicCommand(&random)
        case 29...33: return privacyCommand(&random)
        case 0, 1, 2:
            let properties: [UInt16] = [0, 1, 2, 4, 5, 0x10, 0x12, 0x13, 0x15, 0x1d, 0x20, 0x40, 3]
            return LESetExtendedAdvertisingParameters(
                set: set,
                properties: .init(rawValue: properties.randomElement(using: &random) ?? 0),
                intervalMin: LongSlots(rawValue: 32), intervalMax: LongSlots(rawValue: 200),
                ownAddressType: flag.value == true ? .random : .resolvableOrRandom, peer: address,
                filterPolicy: AdvertisingFilterPolicy(rawValue: .random(in: 0...3, using: &random)),
                primaryPHY: phy == .le2M ? .le1M : phy, secondaryPHY: phy, sid: 3,
                notifiesScanRequests: flag
            ).packet
        case 3, 4:
            return LESetAdvertisingSetRandomAddress(
                set: set, address: DeviceAddress(address.value, type: .random)
            ).packet
        case 5, 6:
            let head: [UInt8] = [
                set.rawValue, [3, 3, 1, 0, 2, 4, 5].randomElement(using: &random) ?? 3, 1,
                UInt8(octets.count),
            ]
            return HCICommandPacket(
                opcode: flag.value == true ? .leSetExtendedAdvertisingData : .leSetExtendedScanResponseData,
                parameters: head + octets)
        case 7, 8, 9, 10:
            return LESetExtendedAdvertisingEnable(
                enable: flag,
                sets: [
                    .init(
                        set: set, duration: Centiseconds(rawValue: .random(in: 0...200, using: &random)),
                        maxEvents: .random(in: 0...9, using: &random))
                ]
            ).packet
        case 11: return LERemoveAdvertisingSet(set: set).packet
        case 12: return LEClearAdvertisingSets().packet
        case 13, 14:
            return LESetExtendedScanParameters(
                ownAddressType: .random,
                phys: PerPHY(
                    phys,
                    .init(
                        type: ScanType(rawValue: .random(in: 0...1, using: &random)),
                        interval: Slots(rawValue: 32), window: Slots(rawValue: 32)))
            ).packet
        case 15, 16:
            return LESetExtendedScanEnable(
                enable: flag, filterDuplicates: .init(rawValue: .random(in: 0...2, using: &random)),
                duration: Centiseconds(rawValue: .random(in: 0...99, using: &random)),
                period: ScanPeriod(rawValue: .random(in: 0...2, using: &random))
            ).packet
        case 17, 18, 19:
            return LEExtendedCreateConnection(
                ownAddressType: flag.value == true ? .random : .resolvableOrRandom, peer: address,
                phys: PerPHY(
                    phys,
                    .init(
                        scanInterval: Slots(rawValue: 16), scanWindow: Slots(rawValue: 16),
                        parameters: Bench.parameters))
            ).packet
        case 20:
            return LESetPHY(
                connection: connection, preference: PHYPreference(transmit: phys, receive: nil)
            ).packet
        case 21: return LESetDefaultPHY(preference: PHYPreference(transmit: nil, receive: phys)).packet
        case 22: return LEReadPHY(connection: connection).packet
        default: return Disconnect(connection: connection).packet
        }
    }

    /// Returns a random command about trains, with parameters that are often in range.
    static func periodicCommand(_ random: inout SplitMix64) -> HCICommandPacket {
        let set = AdvertisingHandle(rawValue: .random(in: 0...5, using: &random))
        let sync = SyncHandle(rawValue: .random(in: 0...3, using: &random))
        let number = UInt64.random(in: 0...4, using: &random)
        let advertiser = PeriodicAdvertiser(
            address: HCIAddress(0xc000_0000_0000 + number, type: .random), sid: 3)
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
            return LESetPeriodicAdvertisingParameters(
                set: set, intervalMin: ConnectionInterval(rawValue: 6),
                intervalMax: ConnectionInterval(rawValue: .random(in: 6...99, using: &random))
            ).packet
        case 2, 3:
            let octets = (0..<Int.random(in: 0...252, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
            let operation: UInt8 = [3, 3, 1, 0, 2, 4].randomElement(using: &random) ?? 3
            return HCICommandPacket(
                opcode: .leSetPeriodicAdvertisingData,
                parameters: [set.rawValue, operation, UInt8(octets.count)] + octets)
        case 4, 5:
            return LESetPeriodicAdvertisingEnable(
                enable: .init(rawValue: .random(in: 0...3, using: &random)), set: set
            ).packet
        case 6, 7:
            return LEPeriodicAdvertisingCreateSync(
                options: .init(rawValue: .random(in: 0...7, using: &random)), sid: 3,
                advertiser: advertiser.address, skip: .random(in: 0...3, using: &random),
                timeout: Centiseconds(rawValue: 20)
            ).packet
        case 8: return LEPeriodicAdvertisingCreateSyncCancel().packet
        case 9: return LEPeriodicAdvertisingTerminateSync(sync: sync).packet
        case 10: return LEAddDeviceToPeriodicAdvertiserList(advertiser: advertiser).packet
        default:
            return LESetPeriodicAdvertisingReceiveEnable(
                sync: sync, enable: .init(rawValue: .random(in: 0...3, using: &random))
            ).packet
        }
    }

    /// Returns a random command about private addresses, with parameters that are often in range.
    static func privacyCommand(_ random: inout SplitMix64) -> HCICommandPacket {
        let number = UInt64.random(in: 0...4, using: &random)
        let peer = HCIAddress(0xc000_0000_0000 + number, type: .random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2:
            return LEAddDeviceToResolvingList(peer: peer, peerKey: UInt128(number), localKey: 7).packet
        case 3: return LERemoveDeviceFromResolvingList(peer: peer).packet
        case 4:
            return LESetAddressResolutionEnable(enable: HCIFlag(rawValue: .random(in: 0...1, using: &random)))
                .packet
        case 5: return LESetPrivacyMode(peer: peer, mode: .init(rawValue: UInt8(number & 1))).packet
        case 6: return LEReadLocalResolvableAddress(peer: peer).packet
        default:
            return LESetExtendedScanParameters(
                ownAddressType: .resolvableOrRandom, filterPolicy: .unresolvedDirected,
                phys: PerPHY(
                    .le1M,
                    .init(type: .active, interval: Slots(rawValue: 32), window: Slots(rawValue: 32)))
            ).packet
        }
    }
}
