import HCI

/// The commands of one family that the tables of scripts use.
struct ScriptedFamily: Sendable {
    let isExtended: Bool
    let scanParameters, scanEnable: HCIOpcode
    let advertisingParameters, advertisingData, advertisingEnable: HCIOpcode
    let createConnection: HCIOpcode

    static let legacy = ScriptedFamily(
        isExtended: false, scanParameters: .leSetScanParameters, scanEnable: .leSetScanEnable,
        advertisingParameters: .leSetAdvertisingParameters, advertisingData: .leSetAdvertisingData,
        advertisingEnable: .leSetAdvertisingEnable, createConnection: .leCreateConnection)
    static let extended = ScriptedFamily(
        isExtended: true, scanParameters: .leSetExtendedScanParameters, scanEnable: .leSetExtendedScanEnable,
        advertisingParameters: .leSetExtendedAdvertisingParameters,
        advertisingData: .leSetExtendedAdvertisingData, advertisingEnable: .leSetExtendedAdvertisingEnable,
        createConnection: .leExtendedCreateConnection)

    /// Returns the cases of a table for both families.
    static func all(_ table: (ScriptedFamily) -> [ScriptCase]) -> [ScriptCase] {
        [legacy, extended].flatMap { family in
            table(family).map { line in
                var line = line
                line.isExtended = family.isExtended
                return line
            }
        }
    }
}
