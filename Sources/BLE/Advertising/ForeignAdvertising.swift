import BLECore
import HCI

/// The effect of other programs on the advertising of a shared adapter, derived from their commands.
struct ForeignAdvertising: Hashable, Sendable {
    /// The sets that are off the air as a result; nil for all.
    var sets: [AdvertisingHandle]?

    /// Returns the sets that a command of another program takes off the air; nil when it does not do that
    /// (Core Specification 5.4, Vol 4, Part E, 7.3.2, 7.8.9, 7.8.56, 7.8.59, 7.8.60). The single advertiser
    /// of the legacy commands belongs to the other program also when that enables it. A controller that has
    /// received legacy commands refuses the extended ones.
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
