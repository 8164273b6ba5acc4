import ATT
import BLECore

/// The type of a value, as far as `--format auto` supports it.
enum ValueType: Hashable {
    /// Text that is encoded in UTF-8.
    case text
    /// A number; integers count in steps of ten to the power of `exponent`. `unit` can be empty.
    case number(NumberCoding, exponent: Int, unit: String)
    /// A Heart Rate Measurement (Heart Rate Service 1.0, 3.1).
    case heartRate
    /// A Temperature Measurement (Health Thermometer Service 1.0, 3.1).
    case temperature

    /// Creates the type of an attribute's value: from its Characteristic Presentation Format descriptor if
    /// that specifies one, otherwise from its UUID.
    init?(of uuid: BluetoothUUID, presentation: [UInt8]? = nil) {
        let described = presentation.flatMap { try? CharacteristicPresentationFormat($0) }?.type
        guard let type = described ?? uuid.uint16.flatMap({ Self.known[$0] }) else { return nil }
        self = type
    }

    /// Characteristics and descriptors of the Bluetooth SIG (GATT Specification Supplement).
    private static let known: [UInt16: ValueType] = {
        var types: [UInt16: ValueType] = [0x2a37: .heartRate, 0x2a1c: .temperature, 0x2a1e: .temperature]
        // Names, numbers and versions of Device Information, names and addresses of User Data.
        let texts: [UInt16] = [
            0x2901, 0x2a00, 0x2a24, 0x2a25, 0x2a26, 0x2a27, 0x2a28, 0x2a29, 0x2a3d, 0x2a87, 0x2a8a, 0x2a90,
        ]
        for uuid in texts { types[uuid] = .text }
        let numbers: [(UInt16, NumberCoding, exponent: Int, unit: String)] = [
            (0x2a01, .unsigned(octets: 2), 0, ""),  // Appearance
            (0x2a06, .unsigned(octets: 1), 0, ""),  // Alert Level
            (0x2a07, .signed(octets: 1), 0, "dBm"),  // Tx Power Level
            (0x2a19, .unsigned(octets: 1), 0, "%"),  // Battery Level
            (0x2a1d, .unsigned(octets: 1), 0, ""),  // Temperature Type
            (0x2a21, .unsigned(octets: 2), 0, "s"),  // Measurement Interval
            (0x2a38, .unsigned(octets: 1), 0, ""),  // Body Sensor Location
            (0x2a6c, .signed(octets: 3), -2, "m"),  // Elevation
            (0x2a6d, .unsigned(octets: 4), -1, "Pa"),  // Pressure
            (0x2a6e, .signed(octets: 2), -2, "°C"),  // Temperature
            (0x2a6f, .unsigned(octets: 2), -2, "%"),  // Humidity
            (0x2a70, .unsigned(octets: 2), -2, "m/s"),  // True Wind Speed
            (0x2a71, .unsigned(octets: 2), -2, "°"),  // True Wind Direction
            (0x2a72, .unsigned(octets: 2), -2, "m/s"),  // Apparent Wind Speed
            (0x2a73, .unsigned(octets: 2), -2, "°"),  // Apparent Wind Direction
            (0x2a76, .unsigned(octets: 1), 0, ""),  // UV Index
            (0x2a77, .unsigned(octets: 2), -1, "W/m²"),  // Irradiance
            (0x2a78, .unsigned(octets: 2), -3, "m"),  // Rainfall
            (0x2a7a, .signed(octets: 1), 0, "°C"),  // Heat Index
            (0x2a7b, .signed(octets: 1), 0, "°C"),  // Dew Point
            (0x2a80, .unsigned(octets: 1), 0, ""),  // Age
            (0x2a8d, .unsigned(octets: 1), 0, "bpm"),  // Heart Rate Max
            (0x2a8e, .unsigned(octets: 2), -2, "m"),  // Height
            (0x2afb, .unsigned(octets: 3), -2, "lx"),  // Illuminance
        ]
        for (uuid, coding, exponent, unit) in numbers {
            types[uuid] = .number(coding, exponent: exponent, unit: unit)
        }
        return types
    }()
}

extension ValueType {
    /// Returns the reading of `value`, or nil if it does not have this type.
    func reading(_ value: [UInt8]) -> Reading? {
        switch self {
        case .text: Self.utf8(value).map { .text($0) }
        case .number(let coding, let exponent, let unit):
            coding.text(value, exponent: exponent).map { .number($0, unit: unit) }
        case .heartRate:
            Self.measurement(value) { flags in
                (.unsigned(octets: flags & 1 == 0 ? 1 : 2), "bpm")
            }
        case .temperature:
            Self.measurement(value) { flags in (.medical(.four), flags & 1 == 0 ? "°C" : "°F") }
        }
    }

    /// A value as the type presents it.
    enum Reading: Hashable {
        case text(String)
        /// A number in decimal, and its unit, which may be empty.
        case number(String, unit: String)
    }

    /// Reads a number that follows an octet of flags. Everything after the number is ignored.
    private static func measurement(
        _ value: [UInt8], layout: (UInt8) -> (NumberCoding, unit: String)
    ) -> Reading? {
        guard let flags = value.first else { return nil }
        let (coding, unit) = layout(flags)
        return coding.text(Array(value.dropFirst().prefix(coding.octets))).map { .number($0, unit: unit) }
    }

    /// Returns the text of octets that are UTF-8. Zeros at the end, with which some servers pad, are removed.
    static func utf8(_ value: [UInt8]) -> String? {
        let trimmed = value[..<(value.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)]
        return String(validating: trimmed, as: UTF8.self)
    }
}
