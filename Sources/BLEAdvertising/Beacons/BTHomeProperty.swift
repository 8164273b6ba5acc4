import BLECore

/// A measured or counted property; the raw value is its name in one word.
public enum BTHomeProperty: String, Hashable, Sendable, CaseIterable {
    case acceleration, battery, channel, co2, conductivity, count, current, dewPoint, direction, distance
    case duration, energy, gas, gyroscope, humidity, illuminance, lightLevel, mass, moisture, pm10, power
    case precipitation, pressure, rotation, rotationalSpeed, speed, temperature, uvIndex, voltage, volume
    case volumeFlowRate, volumeStorage, water
    /// Particles of up to 2.5 µm, in µg/m³.
    case pm2_5 = "pm25"
    /// All volatile organic compounds together, in µg/m³.
    case tvoc
}

/// The conversion of an object's octets to a quantity.
struct BTHomeScale: Sendable {
    let property: BTHomeProperty
    /// The number of octets of the number, 1 to 4.
    let width: Int
    let isSigned: Bool
    let factor: Int
    let exponent: Int
    let unit: PhysicalUnit

    /// Reads a quantity of this scale.
    func quantity(_ reader: inout ByteReader) throws(DecodeError) -> Quantity {
        let bits =
            switch width {
            case 1: UInt32(try reader.u8(property.rawValue))
            case 2: UInt32(try reader.u16(property.rawValue))
            case 3: try reader.u24(property.rawValue)
            default: try reader.u32(property.rawValue)
            }
        // The sign is the top bit of `width` octets.
        let unused = Int32(32 - 8 * width)
        let number = isSigned ? Int(Int32(bitPattern: bits << unused) >> unused) : Int(bits)
        return Quantity(factor * number, exponent: exponent, unit)
    }

    /// All objects that are quantities, by identifier (bthome.io/format, sensor data).
    static let all: [UInt8: BTHomeScale] = [
        0x01: u(.battery, 1, 0, .percent), 0x02: s(.temperature, 2, -2, .celsius),
        0x03: u(.humidity, 2, -2, .percent), 0x04: u(.pressure, 3, -2, .hectopascal),
        0x05: u(.illuminance, 3, -2, .lux), 0x06: u(.mass, 2, -2, .kilogram), 0x07: u(.mass, 2, -2, .pound),
        0x08: s(.dewPoint, 2, -2, .celsius), 0x09: u(.count, 1, 0, .one),
        0x0a: u(.energy, 3, -3, .kilowattHour), 0x0b: u(.power, 3, -2, .watt),
        0x0c: u(.voltage, 2, -3, .volt),
        0x0d: u(.pm2_5, 2, 0, .microgramPerCubicMeter), 0x0e: u(.pm10, 2, 0, .microgramPerCubicMeter),
        0x12: u(.co2, 2, 0, .partsPerMillion), 0x13: u(.tvoc, 2, 0, .microgramPerCubicMeter),
        0x14: u(.moisture, 2, -2, .percent), 0x2e: u(.humidity, 1, 0, .percent),
        0x2f: u(.moisture, 1, 0, .percent), 0x3d: u(.count, 2, 0, .one), 0x3e: u(.count, 4, 0, .one),
        0x3f: s(.rotation, 2, -1, .degree), 0x40: u(.distance, 2, 0, .millimeter),
        0x41: u(.distance, 2, -1, .meter), 0x42: u(.duration, 3, -3, .second),
        0x43: u(.current, 2, -3, .ampere), 0x44: u(.speed, 2, -2, .meterPerSecond),
        0x45: s(.temperature, 2, -1, .celsius), 0x46: u(.uvIndex, 1, -1, .one),
        0x47: u(.volume, 2, -1, .liter),
        0x48: u(.volume, 2, 0, .milliliter), 0x49: u(.volumeFlowRate, 2, -3, .cubicMeterPerHour),
        0x4a: u(.voltage, 2, -1, .volt), 0x4b: u(.gas, 3, -3, .cubicMeter), 0x4c: u(.gas, 4, -3, .cubicMeter),
        0x4d: u(.energy, 4, -3, .kilowattHour), 0x4e: u(.volume, 4, -3, .liter),
        0x4f: u(.water, 4, -3, .liter), 0x51: u(.acceleration, 2, -3, .meterPerSecondSquared),
        0x52: u(.gyroscope, 2, -3, .degreePerSecond), 0x55: u(.volumeStorage, 4, -3, .liter),
        0x56: u(.conductivity, 2, 0, .microsiemensPerCentimeter), 0x57: s(.temperature, 1, 0, .celsius),
        0x58: s(.temperature, 1, -2, .celsius, factor: 35), 0x59: s(.count, 1, 0, .one),
        0x5a: s(.count, 2, 0, .one), 0x5b: s(.count, 4, 0, .one), 0x5c: s(.power, 4, -2, .watt),
        0x5d: s(.current, 2, -3, .ampere), 0x5e: u(.direction, 2, -2, .degree),
        0x5f: u(.precipitation, 2, -1, .millimeter), 0x60: u(.channel, 1, 0, .one),
        0x61: u(.rotationalSpeed, 2, 0, .revolutionPerMinute), 0x62: s(.speed, 4, -6, .meterPerSecond),
        0x63: s(.acceleration, 4, -6, .meterPerSecondSquared), 0x64: u(.lightLevel, 1, 0, .one),
    ]

    private static func u(
        _ property: BTHomeProperty, _ width: Int, _ exponent: Int, _ unit: PhysicalUnit
    ) -> BTHomeScale {
        BTHomeScale(
            property: property, width: width, isSigned: false, factor: 1, exponent: exponent, unit: unit)
    }

    private static func s(
        _ property: BTHomeProperty, _ width: Int, _ exponent: Int, _ unit: PhysicalUnit, factor: Int = 1
    ) -> BTHomeScale {
        BTHomeScale(
            property: property, width: width, isSigned: true, factor: factor, exponent: exponent, unit: unit)
    }
}
