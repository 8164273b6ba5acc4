import BLECore

/// Sets whether the host supports a feature that both host and controller must support. Peers receive it with
/// the features.
package struct LESetHostFeature: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.115.
    package static let definition = command(.leSetHostFeature, "Bit_Number, Bit_Value", Self.init) {
        ($0.bit, $0.value)
    }

    /// The feature's bit in `LEFeatures`, 0 to 63; it must be a host support bit.
    package var bit: UInt8
    /// Whether the host supports the feature.
    package var value: HCIFlag

    /// Creates a command that sets the feature of bit `bit` to `value`.
    package init(bit: UInt8, value: HCIFlag) { (self.bit, self.value) = (bit, value) }
}

/// Sets which data changes give a set a new resolvable private address, in addition to the timeout of the
/// address.
package struct LESetDataRelatedAddressChanges: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.122.
    package static let definition = command(
        .leSetDataRelatedAddressChanges, "Advertising_Handle, Change_Reasons", Self.init
    ) {
        ($0.set, $0.reasons)
    }

    /// The changes that make the controller generate a new address.
    package struct Reasons: OptionSet, HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A change of the advertising data.
        package static let advertisingData = Reasons(rawValue: 1 << 0)
        /// A change of the scan response data.
        package static let scanResponseData = Reasons(rawValue: 1 << 1)
    }

    /// The set; 0x00 for legacy advertising.
    package var set: AdvertisingHandle
    /// The changes that make the controller generate a new address.
    package var reasons: Reasons

    package init(set: AdvertisingHandle, reasons: Reasons) { (self.set, self.reasons) = (set, reasons) }
}
