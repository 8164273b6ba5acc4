import BLECore

/// The charge level of a battery (Battery Service 1.1, 3.1).
public struct BatteryLevel: Hashable, PacketCodable {
    /// The charge in percent, 0 to 100.
    public let percent: UInt8

    /// Creates a level in percent; nil for less than 0 and more than 100.
    public init?(percent: Int) {
        guard (0...100).contains(percent) else { return nil }
        self.percent = UInt8(percent)
    }

    package static let packetName = "Battery Level"

    /// Reads one octet; more than 100 is an error.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let value = try reader.u8("level")
        guard value <= 100 else { throw reader.invalid("level", value: value, width: 1) }
        percent = value
    }

    package var encodedCount: Int { 1 }

    package func encode(into output: inout OutputSpan<UInt8>) { output.u8(percent) }
}

extension BatteryLevel: ExpressibleByIntegerLiteral {
    /// Creates the level from a literal in the source, 0 to 100; any other number is a programming error. A
    /// level that a peer sends is read by `init(decoding:)`, which throws.
    public init(integerLiteral percent: Int) {
        guard let level = BatteryLevel(percent: percent) else {
            preconditionFailure("a battery level is 0 to 100 %, not \(percent)")
        }
        self = level
    }
}

extension BatteryLevel: CustomStringConvertible {
    /// The level as text: `80 %`.
    public var description: String { "\(percent) %" }
}

extension BluetoothUUID {
    /// The Battery Service of the SIG's assigned numbers, 0x180f.
    public static let batteryService: BluetoothUUID = 0x180f
    /// The characteristic Battery Level: 0 to 100 %.
    public static let batteryLevel: BluetoothUUID = 0x2a19
}

extension CharacteristicKey<BatteryLevel> {
    /// The characteristic Battery Level, as a number from 0 to 100.
    public static let batteryLevel = CharacteristicKey(.batteryLevel, in: .batteryService)
}
