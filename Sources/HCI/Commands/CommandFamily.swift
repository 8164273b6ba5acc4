/// The two families of LE commands for advertising, scanning and connecting. A controller that has received a
/// command of the extended family rejects the legacy ones with Command Disallowed until it is reset, and vice
/// versa (Core Specification 5.4, Vol 4, Part E, 3.1.1).
package enum CommandFamily: Sendable {
    case legacy
    case extended

    /// Creates the family of a command; nil if the command belongs to neither or can be used with both, such
    /// as LE Create Connection Cancel and LE Set Random Address.
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
        .leSetExtendedAdvertisingParametersV2, .leExtendedCreateConnectionV2,
        .leSetPeriodicAdvertisingParametersV2,
    ]
}
