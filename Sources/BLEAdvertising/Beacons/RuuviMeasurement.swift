import BLECore

/// A measurement of a RuuviTag: manufacturer data in Ruuvi's data formats 3 (RAWv1) and 5 (RAWv2). A value is
/// nil if the tag reports it as not available, which is not possible in format 3.
public struct RuuviMeasurement: Hashable, Sendable {
    /// The data format of the packet.
    public enum Format: UInt8, Hashable, Sendable {
        /// RAWv1: 14 octets, including the octet of the format.
        case rawV1 = 3
        /// RAWv2: 24 octets, including the octet of the format.
        case rawV2 = 5
    }

    /// Acceleration along the three axes, in thousandths of the standard gravity.
    public struct Acceleration: Hashable, Sendable {
        /// The acceleration along the tag, across it, and through it.
        public let x, y, z: Quantity?
    }

    /// The data format of the packet.
    public let format: Format
    /// The temperature in °C, in steps of 0.01 in format 3 and of 0.005 in format 5.
    public let temperature: Quantity?
    /// The relative humidity in percent, in steps of 0.5 in format 3 and of 0.0025 in format 5. A value above
    /// 100 is a fault of the sensor.
    public let humidity: Quantity?
    /// The air pressure in Pa, at least 50,000.
    public let pressure: Quantity?
    /// The acceleration along three axes, including gravity.
    public let acceleration: Acceleration
    /// The battery's voltage in V, in steps of 1 mV.
    public let battery: Quantity?
    /// The transmit power in dBm; format 5 only.
    public let txPower: Quantity?
    /// The number of movements of the tag, 0 to 254, which then restarts at 0. Format 5 only.
    public let movements: UInt8?
    /// The sequence number of the measurement, 0 to 65,534, which then restarts at 0. Format 5 only.
    public let sequence: UInt16?
    /// The tag's own address. Format 5 only.
    public let address: DeviceAddress?

    /// The company identifier of Ruuvi Innovations.
    package static let company: CompanyIdentifier = 0x0499

    /// Decodes manufacturer data; nil if it belongs to a different company or has a different format of
    /// Ruuvi's. Throws if the data is too short or too long, or has values that the format does not allow.
    package init?(_ manufacturer: ManufacturerData) throws(DecodeError) {
        guard manufacturer.company == Self.company,
            let format = manufacturer.data.first.flatMap(Format.init(rawValue:))
        else { return nil }
        var reader = ByteReader(manufacturer.data.span, of: "Ruuvi \(format.rawValue)")
        _ = try reader.u8("data format")
        switch format {
        case .rawV1: try self.init(decodingRAWv1: &reader)
        case .rawV2: try self.init(decodingRAWv2: &reader)
        }
        try reader.end()
    }

    private init(decodingRAWv1 reader: inout ByteReader) throws(DecodeError) {
        format = .rawV1
        humidity = Quantity(5 * Int(try reader.u8("humidity")), exponent: -1, .percent)
        let (whole, hundredths) = (try reader.u8("temperature"), try reader.u8("temperature's fraction"))
        guard hundredths < 100 else {
            throw reader.invalid("temperature's fraction", value: hundredths, width: 1)
        }
        // The value is in sign-magnitude form, not in two's complement.
        let magnitude = 100 * Int(whole & 0x7f) + Int(hundredths)
        temperature = Quantity(whole & 0x80 == 0 ? magnitude : -magnitude, exponent: -2, .celsius)
        pressure = Quantity(50_000 + Int(try reader.big("pressure")), .pascal)
        acceleration = Acceleration(
            x: Quantity(Int16(bitPattern: try reader.big("acceleration x")), exponent: -3, .standardGravity),
            y: Quantity(Int16(bitPattern: try reader.big("acceleration y")), exponent: -3, .standardGravity),
            z: Quantity(Int16(bitPattern: try reader.big("acceleration z")), exponent: -3, .standardGravity))
        battery = Quantity(try reader.big("battery voltage"), exponent: -3, .volt)
        (txPower, movements, sequence, address) = (nil, nil, nil, nil)
    }

    private init(decodingRAWv2 reader: inout ByteReader) throws(DecodeError) {
        format = .rawV2
        temperature = try reader.signed("temperature").map { Quantity(5 * Int($0), exponent: -3, .celsius) }
        humidity = try reader.unsigned("humidity").map { Quantity(25 * Int($0), exponent: -4, .percent) }
        pressure = try reader.unsigned("pressure").map { Quantity(50_000 + Int($0), .pascal) }
        acceleration = Acceleration(
            x: try reader.signed("acceleration x").map { Quantity($0, exponent: -3, .standardGravity) },
            y: try reader.signed("acceleration y").map { Quantity($0, exponent: -3, .standardGravity) },
            z: try reader.signed("acceleration z").map { Quantity($0, exponent: -3, .standardGravity) })
        let power = try reader.big("power")
        battery = power >> 5 == 0x7ff ? nil : Quantity(1600 + Int(power >> 5), exponent: -3, .volt)
        txPower = power & 0x1f == 0x1f ? nil : Quantity(2 * Int(power & 0x1f) - 40, .decibelMilliwatt)
        let movements = try reader.u8("movement counter")
        self.movements = movements == .max ? nil : movements
        sequence = try reader.unsigned("measurement sequence number")
        let octets = try reader.bytes(6, "address").reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // Tags have random static addresses, whose two top bits are set.
        address =
            octets == 0xffff_ffff_ffff
            ? nil : DeviceAddress(octets, type: octets >> 46 == 0b11 ? .random : .public)
    }
}

extension ByteReader {
    /// Reads two octets, the most significant first.
    @_lifetime(self: copy self)
    fileprivate mutating func big(_ field: String) throws(DecodeError) -> UInt16 {
        try u16(field).byteSwapped
    }

    /// Reads two octets, the most significant first; nil for 0xFFFF, which stands for no value.
    @_lifetime(self: copy self)
    fileprivate mutating func unsigned(_ field: String) throws(DecodeError) -> UInt16? {
        let value = try big(field)
        return value == .max ? nil : value
    }

    /// Reads two octets as a signed number, the most significant first; nil for the least number, which
    /// stands for no value.
    @_lifetime(self: copy self)
    fileprivate mutating func signed(_ field: String) throws(DecodeError) -> Int16? {
        let value = Int16(bitPattern: try big(field))
        return value == .min ? nil : value
    }
}
