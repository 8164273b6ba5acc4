import BLECore

/// The Characteristic Presentation Format descriptor, 0x2904: how a server says that its value is to be
/// shown (Core Specification 5.4, Vol 3, Part G, 3.3.3.5).
struct PresentationFormat: Hashable, PacketDecodable {
    static var packetName: String { "Characteristic Presentation Format" }

    /// The layout of the value (Assigned Numbers, 2.4.1).
    var format: UInt8
    /// Integers are multiplied by ten to this power.
    var exponent: Int8
    /// The unit, a UUID of the Bluetooth SIG (Assigned Numbers, 3.5).
    var unit: UInt16
    /// Who numbers the descriptions: 1 the Bluetooth SIG.
    var namespace: UInt8
    /// Which of several, as in "left" or "first".
    var description: UInt16

    init(decoding reader: inout ByteReader) throws(DecodeError) {
        format = try reader.u8("format")
        exponent = try reader.i8("exponent")
        unit = try reader.u16("unit")
        namespace = try reader.u8("namespace")
        description = try reader.u16("description")
    }

    /// The type of value that it describes; nil for a structure and for what is not whole octets.
    var type: ValueType? {
        let coding: NumberCoding
        switch format {
        case 0x04: coding = .unsigned(octets: 1)
        case 0x06: coding = .unsigned(octets: 2)
        case 0x07: coding = .unsigned(octets: 3)
        case 0x08: coding = .unsigned(octets: 4)
        case 0x09: coding = .unsigned(octets: 6)
        case 0x0a: coding = .unsigned(octets: 8)
        case 0x0b: coding = .unsigned(octets: 16)
        case 0x0c: coding = .signed(octets: 1)
        case 0x0e: coding = .signed(octets: 2)
        case 0x0f: coding = .signed(octets: 3)
        case 0x10: coding = .signed(octets: 4)
        case 0x11: coding = .signed(octets: 6)
        case 0x12: coding = .signed(octets: 8)
        case 0x13: coding = .signed(octets: 16)
        case 0x14: coding = .binary(octets: 4)
        case 0x15: coding = .binary(octets: 8)
        case 0x16: coding = .medical(.two)
        case 0x17: coding = .medical(.four)
        case 0x19: return .text
        default: return nil
        }
        return .number(coding, exponent: Int(exponent), unit: Self.units[unit] ?? "")
    }

    /// The signs of common units.
    private static let units: [UInt16: String] = [
        0x2701: "m", 0x2702: "kg", 0x2703: "s", 0x2704: "A", 0x2705: "K", 0x2710: "m²", 0x2711: "m³",
        0x2712: "m/s", 0x2722: "Hz", 0x2723: "N", 0x2724: "Pa", 0x2725: "J", 0x2726: "W", 0x2728: "V",
        0x272a: "Ω", 0x272f: "°C", 0x2731: "lx", 0x2760: "min", 0x2761: "h", 0x2762: "d", 0x2763: "°",
        0x2767: "l", 0x2768: "t", 0x2780: "bar", 0x2781: "mmHg", 0x27a6: "km/h", 0x27a7: "mph",
        0x27a8: "rpm", 0x27a9: "cal", 0x27ab: "kWh", 0x27ac: "°F", 0x27ad: "%", 0x27ae: "‰", 0x27af: "bpm",
        0x27b5: "mmol/l", 0x27c4: "ppm", 0x27c5: "ppb",
    ]
}
