import BLECore

/// The parameters of the second version begin with those of the first.
extension LESetExtendedAdvertisingParameters: HCIField {}

/// Makes an advertising set, or says how to send it and how to code it on LE Coded.
package struct LESetExtendedAdvertisingParametersV2: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.53.
    package static let definition = command(
        .leSetExtendedAdvertisingParametersV2, "parameters, primary PHY options, secondary PHY options",
        Self.init
    ) {
        ($0.parameters, $0.primaryCoding, $0.secondaryCoding)
    }
    /// dBm that the controller has chosen, -127 to 20.
    package typealias ReturnParameters = Returned<Int8>

    /// All that the first version has.
    package var parameters: LESetExtendedAdvertisingParameters
    /// The coding where the set is announced.
    package var primaryCoding: AdvertisingCoding
    /// The coding where the data are sent.
    package var secondaryCoding: AdvertisingCoding

    package init(
        parameters: LESetExtendedAdvertisingParameters, primaryCoding: AdvertisingCoding = .any,
        secondaryCoding: AdvertisingCoding = .any
    ) {
        (self.parameters, self.primaryCoding) = (parameters, primaryCoding)
        self.secondaryCoding = secondaryCoding
    }
}
