import HCI

/// The two sets of commands for advertising, scanning and initiating. Once a host has used one of them, the
/// other is disallowed until Reset (Core Specification 5.4, Vol 4, Part E, 3.1.1).
enum AdvertisingFamily: Sendable {
    case legacy
    case extended

    /// The family that a command belongs to, if it does to one. LE Create Connection Cancel and LE Set Random
    /// Address, for example, are of both.
    init?(_ opcode: HCIOpcode) {
        if Self.legacyCommands.contains(opcode) {
            self = .legacy
        } else if Self.extendedCommands.contains(opcode) {
            self = .extended
        } else {
            return nil
        }
    }

    private static let legacyCommands: Set<HCIOpcode> = [
        .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
        .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable,
        .leCreateConnection,
    ]

    private static let extendedCommands: Set<HCIOpcode> = [
        .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
        .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
        .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
        .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
        .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
        .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel,
        .lePeriodicAdvertisingTerminateSync, .leAddDeviceToPeriodicAdvertiserList,
        .leRemoveDeviceFromPeriodicAdvertiserList, .leClearPeriodicAdvertiserList,
        .leReadPeriodicAdvertiserListSize, .leSetPeriodicAdvertisingReceiveEnable,
    ]
}

extension VirtualController {
    /// Whether the host may use a command beside those that it has used. It has then used it, even if it is
    /// refused for another reason.
    mutating func admits(_ opcode: HCIOpcode) -> Bool {
        guard let family = AdvertisingFamily(opcode) else { return true }
        settings.family = settings.family ?? family
        return settings.family == family
    }
}
