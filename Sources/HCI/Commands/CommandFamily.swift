/// The two sets of LE commands for advertising, scanning and connecting. A controller that has seen one of
/// the extended set answers the legacy ones with Command Disallowed until it is reset, and the other way
/// round (Core Specification 5.4, Vol 4, Part E, 3.1.1).
package enum CommandFamily: Sendable {
    case legacy
    case extended

    /// The family that a command belongs to, if it does to one. LE Create Connection Cancel and LE Set Random
    /// Address, for example, are of both.
    package init?(_ opcode: HCIOpcode) {
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
