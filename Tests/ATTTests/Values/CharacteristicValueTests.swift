import ATT
import BLECore
import Testing

/// Values with units, with octets written by hand from the services' specifications.
struct CharacteristicValueTests {
    private static let thermometer: [([UInt8], TemperatureMeasurement)] = [
        // 36.60: mantissa 0x000e4c, exponent -2.
        ([0x00, 0x4c, 0x0e, 0x00, 0xfe], TemperatureMeasurement(number(3660, -2), .celsius)),
        (
            [0x07, 0xde, 0x03, 0x00, 0xff, 0xea, 0x07, 11, 21, 22, 10, 59, 2],
            TemperatureMeasurement(
                number(990, -1), .fahrenheit,
                time: CalendarTime(year: 2026, month: 11, day: 21, hour: 22, minute: 10, second: 59),
                site: .init(rawValue: 2))
        ),
        ([0x00, 0xff, 0xff, 0x7f, 0x00], TemperatureMeasurement(none, .celsius)),
    ]
    private static let heart: [([UInt8], HeartRateMeasurement)] = [
        ([0x00, 72], HeartRateMeasurement(beatsPerMinute: 72)),
        ([0x01, 0x2c, 0x01], HeartRateMeasurement(beatsPerMinute: 300)),
        ([0x04, 60], HeartRateMeasurement(beatsPerMinute: 60, hasContact: false)),
        (
            [0x1e, 60, 0x10, 0x00, 0x00, 0x04, 0x00, 0x02],
            HeartRateMeasurement(
                beatsPerMinute: 60, hasContact: true, energyExpended: 16, intervals: [1024, 512])
        ),
    ]

    private static func number(_ mantissa: Int128, _ exponent: Int) -> MedicalFloat {
        MedicalFloat(DecimalNumber(mantissa, exponent: exponent), width: .four) ?? none
    }
    private static let none = MedicalFloat(bits: 0x007f_ffff, width: .four)

    @Test(arguments: thermometer) func temperatureMeasurementsRoundTrip(
        _ octets: [UInt8], _ value: TemperatureMeasurement
    ) throws {
        try both(octets, value, isOpen: false)
    }

    @Test(arguments: heart) func heartRateMeasurementsRoundTrip(
        _ octets: [UInt8], _ value: HeartRateMeasurement
    ) throws {
        try both(octets, value, isOpen: !value.intervals.isEmpty)
    }

    @Test func batteryLevelSystemIDAndPnPIDRoundTrip() throws {
        try both([100], try #require(BatteryLevel(percent: 100)), isOpen: false)
        try both(
            [1, 2, 3, 4, 5, 0xcc, 0xbb, 0xaa],
            try #require(SystemID(manufacturer: 0x05_0403_0201, organization: 0xaabbcc)), isOpen: false)
        try both(
            [2, 0x5e, 0x04, 0x40, 0x00, 0x00, 0x03],
            PlugAndPlayID(vendorSource: 2, vendor: 0x045e, product: 0x0040, version: 0x0300), isOpen: false)
        #expect(throws: DecodeError.self) { try BatteryLevel([101]) }
        #expect(BatteryLevel(percent: 101) == nil)
        #expect(SystemID(manufacturer: 1 << 40, organization: 0) == nil)
    }

    /// Checks that the value decodes and encodes. An additional octet is refused, and so is every shorter form
    /// unless a list ends the value.
    private func both<Value: PacketCodable & Equatable>(
        _ octets: [UInt8], _ value: Value, isOpen: Bool
    ) throws {
        #expect(try Value(octets) == value)
        #expect(value.encoded == octets)
        #expect(value.encodedCount == octets.count)
        #expect(throws: DecodeError.self) { try Value(octets + [0]) }
        for count in octets.indices where !isOpen {
            #expect(throws: DecodeError.self) { try Value([UInt8](octets.prefix(count))) }
        }
    }

    @Test func measurementsConvertUnits() throws {
        let celsius = Self.thermometer.map(\.1.celsius)
        #expect(celsius[0] == 36.6)
        #expect(celsius[1].map { ($0 * 100).rounded() / 100 } == 37.22)
        #expect(celsius[2] == nil)
        #expect(Self.heart[3].1.durations == [.seconds(1), .milliseconds(500)])
        #expect(MedicalFloat(bits: 0x007f_fffe, width: .four).double == .infinity)
        #expect(MedicalFloat(DecimalNumber(8_388_606), width: .four) == nil)
        #expect(MedicalFloat(DecimalNumber(1, exponent: 8), width: .two) == nil)
        #expect(MedicalFloat(.notANumber, width: .four) == Self.none)
    }

    @Test("a temperature is encoded in four octets, whatever the width of its number")
    func temperatureIsEncodedInFourOctets() throws {
        let numbers = [(DecimalNumber(366, exponent: -1), "006e0100ff"), (DecimalNumber(-5), "00fbffff00")]
        for (number, hex) in numbers {
            let short = try #require(MedicalFloat(number, width: .two))
            #expect(TemperatureMeasurement(short, .celsius).encoded.hex == hex)
        }
        let none = try #require(MedicalFloat(.notAtThisResolution, width: .two))
        #expect(TemperatureMeasurement(none, .celsius).encoded.hex == "0000008000")
    }

    @Test func characteristicKeysCodeNumbersAndText() throws {
        let number = CharacteristicKey<Int16>(0x2a6e)
        #expect(try number.decode([0xb2, 0x88]) == -30_542)
        #expect(number.encode(-2) == [0xfe, 0xff])
        #expect(throws: DecodeError.self) { try number.decode([1]) }
        #expect(throws: DecodeError.self) { try number.decode([1, 2, 3]) }
        let text = CharacteristicKey<String>(0x2a00)
        #expect(try text.decode([0x54, 0xc3, 0xa4, 0, 0]) == "Tä")
        #expect(try text.decode([0, 0]) == "")
        #expect(text.encode("Tä") == [0x54, 0xc3, 0xa4])
    }

    @Test func deviceInformationRoundTrips() throws {
        var information = DeviceInformation(
            manufacturer: "Acme", firmware: "1.2", system: SystemID(manufacturer: 1, organization: 2))
        let values = information.values
        #expect(values.map(\.characteristic) == [0x2a29, 0x2a26, 0x2a23])
        var copy = DeviceInformation()
        for (uuid, value) in values { #expect(try copy.take(uuid, value)) }
        #expect(copy == information)
        #expect(try !information.take(0x2a2a, [0]))
    }
}
