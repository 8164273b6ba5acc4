import BLECore

/// The payload of an AltBeacon: manufacturer data of any company that identifies a place (AltBeacon Protocol
/// Specification v1.0).
public struct AltBeacon: Hashable, Sendable {
    /// The company that made the beacon and defines the meaning of `reserved`.
    public var company: CompanyIdentifier
    /// The identifier of the beacon in 20 octets. Most beacons use 16 octets for a group and twice two octets
    /// for the beacon in the group.
    public let identifier: [UInt8]
    /// Signal strength at one meter, in dBm.
    public var referenceRSSI: Int8
    /// An octet for the company's own use.
    public var reserved: UInt8

    /// Creates a beacon; nil if `identifier` does not have 20 octets. `reserved` is an octet for the
    /// company's own use.
    public init?(company: CompanyIdentifier, identifier: [UInt8], referenceRSSI: Int8, reserved: UInt8 = 0) {
        guard identifier.count == Self.identifierCount else { return nil }
        self.company = company
        self.identifier = identifier
        self.referenceRSSI = referenceRSSI
        self.reserved = reserved
    }

    /// Decodes manufacturer data; nil if it is not an AltBeacon. Throws if the data begins as an AltBeacon
    /// but has a different length.
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

    /// The manufacturer data that advertises this beacon.
    public var manufacturerData: ManufacturerData {
        ManufacturerData(
            company, Self.beaconCode + identifier + [UInt8(bitPattern: referenceRSSI), reserved])
    }

    /// The first two octets of the data.
    private static let beaconCode: [UInt8] = [0xbe, 0xac]
    private static let identifierCount = 20
}
