import ATT
import BLECore

extension CharacteristicPresentationFormat {
    /// The type of value that is described; nil for a structure and for a format that does not consist of
    /// whole octets.
    var type: ValueType? {
        if format == .utf8 { return .text }
        guard let coding = format.coding else { return nil }
        return .number(coding, exponent: Int(exponent), unit: Self.units[unit] ?? "")
    }

    /// The symbols of common units.
    private static let units: [UInt16: String] = [
        0x2701: "m", 0x2702: "kg", 0x2703: "s", 0x2704: "A", 0x2705: "K", 0x2710: "m²", 0x2711: "m³",
        0x2712: "m/s", 0x2722: "Hz", 0x2723: "N", 0x2724: "Pa", 0x2725: "J", 0x2726: "W", 0x2728: "V",
        0x272a: "Ω", 0x272f: "°C", 0x2731: "lx", 0x2760: "min", 0x2761: "h", 0x2762: "d", 0x2763: "°",
        0x2767: "l", 0x2768: "t", 0x2780: "bar", 0x2781: "mmHg", 0x27a6: "km/h", 0x27a7: "mph",
        0x27a8: "rpm", 0x27a9: "cal", 0x27ab: "kWh", 0x27ac: "°F", 0x27ad: "%", 0x27ae: "‰", 0x27af: "bpm",
        0x27b5: "mmol/l", 0x27c4: "ppm", 0x27c5: "ppb",
    ]
}

extension CharacteristicPresentationFormat.Format {
    /// The layout of the number, or nil if the format is not a number.
    fileprivate var coding: NumberCoding? {
        switch self {
        case .uint8: .unsigned(octets: 1)
        case .uint16: .unsigned(octets: 2)
        case .uint24: .unsigned(octets: 3)
        case .uint32: .unsigned(octets: 4)
        case .uint48: .unsigned(octets: 6)
        case .uint64: .unsigned(octets: 8)
        case .uint128: .unsigned(octets: 16)
        case .sint8: .signed(octets: 1)
        case .sint16: .signed(octets: 2)
        case .sint24: .signed(octets: 3)
        case .sint32: .signed(octets: 4)
        case .sint48: .signed(octets: 6)
        case .sint64: .signed(octets: 8)
        case .sint128: .signed(octets: 16)
        case .float32: .binary(octets: 4)
        case .float64: .binary(octets: 8)
        case .medFloat16: .medical(.two)
        case .medFloat32: .medical(.four)
        default: nil
        }
    }
}
