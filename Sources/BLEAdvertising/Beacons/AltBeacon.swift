import BLECore

/// The payload of an AltBeacon: manufacturer data of any company that name a place (AltBeacon Protocol Specification
/// v1.0).
public struct AltBeacon: Hashable, Sendable {
    /// The company that made it, and that says what `reserved` is.
    public var company: CompanyIdentifier
    /// Which beacon it is, as a number of 20 octets: most use 16 for a group and two times two within it.
    public let identifier: [UInt8]
    /// Signal strength at one meter, in dBm.
    public var referenceRSSI: Int8
    /// An octet of the company's own.
    public var reserved: UInt8

    /// Creates a beacon; nil when `identifier` does not have 20 octets. `reserved` is an octet for the company's own use.
    public init?(company: CompanyIdentifier, identifier: [UInt8], referenceRSSI: Int8, reserved: UInt8 = 0) {
        guard identifier.count == Self.identifierCount else { return nil }
        self.company = company
        self.identifier = identifier
        self.referenceRSSI = referenceRSSI
        self.reserved = reserved
    }

    /// The beacon that manufacturer data hold; nil when they are something else. Throws when they begin as one and are
    /// of another length.
    package init?(_ manufacturer: ManufacturerData) throws(DecodeError) {
        guard manufacturer.data.starts(with: Self.beaconCode) else { return nil }
        var reader = ByteReader(manufacturer.data.span, of: "AltBeacon")
        _ = try reader.u16("beacon code")
        company = manufacturer.company
        identifier = try reader.bytes(Self.identifierCount, "beacon identifier")
        referenceRSSI = try reader.i8("reference RSSI")
        reserved = try reader.u8("reserved")
        try reader.end()
    }

    /// The manufacturer data of an advertisement with this beacon.
    public var manufacturerData: ManufacturerData {
        ManufacturerData(
            company, Self.beaconCode + identifier + [UInt8(bitPattern: referenceRSSI), reserved])
    }

    /// The first two octets of the data.
    private static let beaconCode: [UInt8] = [0xbe, 0xac]
    private static let identifierCount = 20
}
