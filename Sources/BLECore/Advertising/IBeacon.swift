/// The payload of Apple's iBeacon: manufacturer data that names a place.
public struct IBeacon: Hashable, Sendable {
    /// Whose beacon it is.
    public var uuid: BluetoothUUID
    /// Which group of beacons, a shop for instance.
    public var major: UInt16
    /// Which beacon of the group.
    public var minor: UInt16
    /// Signal strength at one metre, in dBm.
    public var measuredPower: Int8

    /// A beacon.
    public init(uuid: BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }

    /// The beacon that manufacturer data holds, or nil when they are something else.
    public init?(_ manufacturer: ManufacturerData) {
        var reader = ByteReader(manufacturer.data.span, of: "iBeacon")
        guard manufacturer.company == .apple, manufacturer.data.count == 23,
            (try? reader.u16("type")) == Self.prefix,
            let uuid = try? reader.u128("UUID"), let major = try? reader.u16("major"),
            let minor = try? reader.u16("minor"), let power = try? reader.i8("measured power")
        else { return nil }
        self.init(
            uuid: BluetoothUUID(uuid.byteSwapped), major: major.byteSwapped, minor: minor.byteSwapped,
            measuredPower: power)
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
