import BLECore

/// A measurement of a thermometer (Health Thermometer Service 1.0, 3.1): an IEEE-11073 number with its unit.
public struct TemperatureMeasurement: Hashable, PacketCodable {
    /// The scale of a temperature.
    public enum Unit: String, Hashable, Sendable, CaseIterable {
        /// The temperature is in degrees Celsius.
        case celsius = "°C"
        /// The temperature is in degrees Fahrenheit.
        case fahrenheit = "°F"
    }

    /// The part of the body where the temperature was measured: 1 armpit, 2 body, 3 ear, 4 finger, 5
    /// gastro-intestinal tract, 6 mouth, 7 rectum, 8 toe, 9 eardrum.
    public struct Site: RawRepresentable, Hashable, Sendable {
        /// The number of the site in the characteristic Temperature Type.
        public let rawValue: UInt8
        /// Creates a site from its number in the characteristic Temperature Type.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The temperature. It is sent in the 32-bit format of IEEE 11073, whatever the width of the number.
    public var value: MedicalFloat
    /// The scale of `value`.
    public var unit: Unit
    /// The time of the measurement by the device's clock, if the device includes it.
    public var time: CalendarTime?
    /// The part of the body where it was measured, if the device includes it.
    public var site: Site?

    /// Creates a measurement of `value` in `unit`.
    public init(_ value: MedicalFloat, _ unit: Unit, time: CalendarTime? = nil, site: Site? = nil) {
        self.value = value
        self.unit = unit
        self.time = time
        self.site = site
    }

    /// The temperature in degrees Celsius, whatever `unit` is; nil if `value` is a special value other than
    /// an infinity.
    public var celsius: Double? {
        guard let value = value.double else { return nil }
        return unit == .celsius ? value : (value - 32) * 5 / 9
    }

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let fahrenheit = Flags(rawValue: 1 << 0)
        static let time = Flags(rawValue: 1 << 1)
        static let site = Flags(rawValue: 1 << 2)
    }

    package static let packetName = "Temperature Measurement"

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let flags = Flags(rawValue: try reader.u8("flags"))
        value = MedicalFloat(bits: try reader.u32("temperature"), width: .four)
        unit = flags.contains(.fahrenheit) ? .fahrenheit : .celsius
        time = flags.contains(.time) ? try CalendarTime(decoding: &reader) : nil
        site = flags.contains(.site) ? Site(rawValue: try reader.u8("temperature type")) : nil
    }

    /// The number of octets of the flags, the temperature and the fields that are present.
    package var encodedCount: Int { 5 + (time?.encodedCount ?? 0) + (site == nil ? 0 : 1) }

    package func encode(into output: inout OutputSpan<UInt8>) {
        var flags: Flags = unit == .fahrenheit ? .fahrenheit : []
        if time != nil { flags.insert(.time) }
        if site != nil { flags.insert(.site) }
        output.u8(flags.rawValue)
        // A number that fits two octets also fits four.
        output.u32((MedicalFloat(value.content, width: .four) ?? value).bits)
        time?.encode(into: &output)
        if let site { output.u8(site.rawValue) }
    }
}

/// A date and time of a device's own calendar; parts that the device does not know are 0 (GATT Specification
/// Supplement, Date Time).
public struct CalendarTime: Hashable, PacketCodable {
    /// The year of the Gregorian calendar, 1582 to 9999.
    public var year: UInt16
    /// The month, 1 to 12.
    public var month: UInt8
    /// The day of the month, 1 to 31.
    public var day: UInt8
    /// The hour of the day, 0 to 23.
    public var hour: UInt8
    /// The minute of the hour, 0 to 59.
    public var minute: UInt8
    /// The second of the minute, 0 to 59.
    public var second: UInt8

    /// Creates a time of the device's own clock.
    public init(year: UInt16, month: UInt8, day: UInt8, hour: UInt8 = 0, minute: UInt8 = 0, second: UInt8 = 0)
    {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    package static let packetName = "Date Time"

    /// Reads the fields in order, seven octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        year = try reader.u16("year")
        month = try reader.u8("month")
        day = try reader.u8("day")
        hour = try reader.u8("hour")
        minute = try reader.u8("minute")
        second = try reader.u8("second")
    }

    package var encodedCount: Int { 7 }

    /// Writes the fields in order, seven octets.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u16(year)
        for part in [month, day, hour, minute, second] { output.u8(part) }
    }
}

extension BluetoothUUID {
    /// The Health Thermometer Service of the SIG's assigned numbers, 0x1809.
    public static let healthThermometerService: BluetoothUUID = 0x1809
    /// The characteristic Temperature Measurement: a temperature with its time and site.
    public static let temperatureMeasurement: BluetoothUUID = 0x2a1c
}

extension CharacteristicKey<TemperatureMeasurement> {
    /// The characteristic Temperature Measurement, which is indicated.
    public static let temperatureMeasurement = CharacteristicKey(
        .temperatureMeasurement, in: .healthThermometerService)
}
