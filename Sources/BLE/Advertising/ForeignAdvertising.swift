import BLECore
import HCI

/// What others do to the advertising of a shared adapter, learned from the commands that they send.
struct ForeignAdvertising: Hashable, Sendable {
    /// The sets that are off the air then; nil for all.
    var sets: [AdvertisingHandle]?

    /// What a command of another program takes off the air, if it does (Core Specification 5.4, Vol 4, Part E,
    /// 7.3.2, 7.8.9, 7.8.56, 7.8.59, 7.8.60). The one advertiser of the legacy commands is theirs also when
    /// they switch it on; a controller that has these refuses the extended ones.
    static func ended(by command: Span<UInt8>, under family: CommandFamily) -> ForeignAdvertising? {
        guard let packet = try? HCICommandPacket(command) else { return nil }
        switch packet.opcode {
        case .leSetExtendedAdvertisingEnable where family == .legacy,
            .leRemoveAdvertisingSet where family == .legacy, .leClearAdvertisingSets where family == .legacy:
            return nil
        case .leSetExtendedAdvertisingEnable:
            guard let command = try? LESetExtendedAdvertisingEnable(packet.parameters.span),
                command.enable.value == false
            else { return nil }
            return ForeignAdvertising(sets: command.sets.isEmpty ? nil : command.sets.map(\.set))
        case .leRemoveAdvertisingSet:
            guard let command = try? LERemoveAdvertisingSet(packet.parameters.span) else { return nil }
            return ForeignAdvertising(sets: [command.set])
        case .leClearAdvertisingSets, .leSetAdvertisingEnable, .reset: return ForeignAdvertising(sets: nil)
        default: return nil
        }
    }
}
