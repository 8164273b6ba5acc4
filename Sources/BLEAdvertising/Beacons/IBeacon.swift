import BLECore

/// The payload of Apple's iBeacon: manufacturer data that identifies a place.
public struct IBeacon: Hashable, Sendable {
    /// The UUID that all beacons of an owner share.
    public var uuid: BluetoothUUID
    /// The number of a group of beacons, for example of a shop.
    public var major: UInt16
    /// The number of the beacon within its group.
    public var minor: UInt16
    /// Signal strength at one meter, in dBm.
    public var measuredPower: Int8

    /// Creates a beacon with these numbers.
    public init(uuid: BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }

    /// Decodes manufacturer data; nil if it is not a valid iBeacon.
    public init?(_ manufacturer: ManufacturerData) {
        guard Self.claims(manufacturer), let beacon = try? IBeacon(malformedOr: manufacturer) else {
            return nil
        }
        self = beacon
    }

    /// Returns whether manufacturer data begins as an iBeacon does.
    static func claims(_ manufacturer: ManufacturerData) -> Bool {
        manufacturer.company == .apple && manufacturer.data.starts(with: [0x02, 0x15])
    }

    /// Decodes manufacturer data that begins as an iBeacon does.
    init(malformedOr manufacturer: ManufacturerData) throws(DecodeError) {
        var reader = ByteReader(manufacturer.data.span, of: "iBeacon")
        _ = try reader.u16("type and length")
        uuid = BluetoothUUID(try reader.u128("UUID").byteSwapped)
        major = try reader.u16("major").byteSwapped
        minor = try reader.u16("minor").byteSwapped
        measuredPower = try reader.i8("measured power")
        try reader.end()
    }

    /// The manufacturer data that advertises this beacon. Its numbers are big-endian, unlike Bluetooth's.
    public var manufacturerData: ManufacturerData {
        ManufacturerData(
            .apple,
            [UInt8](capacity: 23) { output in
                output.u16(Self.prefix)
                output.u128(uuid.value.byteSwapped)
                output.u16(major.byteSwapped)
                output.u16(minor.byteSwapped)
                output.i8(measuredPower)
            })
    }

    /// The type 2, and the length of the rest.
    private static let prefix: UInt16 = 0x1502
}
