import BLECore

/// The payload of Apple's iBeacon: manufacturer data that names a place.
public struct IBeacon: Hashable, Sendable {
    /// The UUID that the beacons of one owner share.
    public var uuid: BluetoothUUID
    /// Which group of beacons, a shop for instance.
    public var major: UInt16
    /// The number of the beacon in its group.
    public var minor: UInt16
    /// Signal strength at one meter, in dBm.
    public var measuredPower: Int8

    /// Creates a beacon of these numbers.
    public init(uuid: BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }

    /// The beacon that manufacturer data hold, or nil when they are something else.
    public init?(_ manufacturer: ManufacturerData) {
        guard Self.claims(manufacturer), let beacon = try? IBeacon(malformedOr: manufacturer) else {
            return nil
        }
        self = beacon
    }

    /// Whether manufacturer data begin as a beacon's do.
    static func claims(_ manufacturer: ManufacturerData) -> Bool {
        manufacturer.company == .apple && manufacturer.data.starts(with: [0x02, 0x15])
    }

    /// The beacon of data that begin as one.
    init(malformedOr manufacturer: ManufacturerData) throws(DecodeError) {
        var reader = ByteReader(manufacturer.data.span, of: "iBeacon")
        _ = try reader.u16("type and length")
        uuid = BluetoothUUID(try reader.u128("UUID").byteSwapped)
        major = try reader.u16("major").byteSwapped
        minor = try reader.u16("minor").byteSwapped
        measuredPower = try reader.i8("measured power")
        try reader.end()
    }

    /// The beacon as manufacturer data. Its numbers go most significant octet first, unlike Bluetooth's.
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

    /// Type 2, and the length of what follows.
    private static let prefix: UInt16 = 0x1502
}
