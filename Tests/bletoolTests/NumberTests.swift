import BLECore
import Testing

@testable import bletool

struct DecimalNumberTests {
    @Test(arguments: [
        ("0", 0, 0), ("36.60", 3660, -2), ("-0.05", -5, -2), ("+7", 7, 0), ("1.5e3", 15, 2), ("2E-3", 2, -3),
        (".5", 5, -1), ("007", 7, 0),
    ])
    func decimalNumbersAreParsed(text: String, mantissa: Int, exponent: Int) {
        #expect(DecimalNumber(text) == DecimalNumber(Int128(mantissa), exponent: exponent))
    }

    @Test(arguments: [
        "", "-", ".", "1.", "1..2", "1.2.3", "x", "1e", "1e+", "--1", "+-1", "0x10", " 1", "1 ",
        "1e99999999999999999999",
        "1e-9223372036854775808", "999999999999999999999999999999999999999999", "１",
    ])
    func invalidDecimalNumbersAreRefused(text: String) { #expect(DecimalNumber(text) == nil) }

    @Test(arguments: [
        (DecimalNumber(3660, exponent: -2), "36.60"), (DecimalNumber(-5, exponent: -2), "-0.05"),
        (DecimalNumber(15, exponent: 2), "1500"),
        (DecimalNumber(5, exponent: 40), "5e40"), (DecimalNumber(0, exponent: 9), "0"),
        (DecimalNumber(0, exponent: -2), "0.00"),
        (DecimalNumber(1, exponent: -18), "0.000000000000000001"), (DecimalNumber(1, exponent: -19), "1e-19"),
    ])
    func decimalNumbersAreFormatted(number: DecimalNumber, text: String) {
        #expect(number.description == text)
        #expect(DecimalNumber(text)?.mantissa(atExponent: -18) == number.mantissa(atExponent: -18))
    }

    @Test func exponentChangesOnlyWithoutLoss() {
        #expect(DecimalNumber(15, exponent: 2).mantissa(atExponent: -1) == 15_000)
        #expect(DecimalNumber(1500, exponent: 0).mantissa(atExponent: 2) == 15)
        #expect(DecimalNumber(1501, exponent: 0).mantissa(atExponent: 2) == nil)
        #expect(DecimalNumber(1, exponent: 999).mantissa(atExponent: 0) == nil)
        #expect(DecimalNumber(0, exponent: -999).mantissa(atExponent: 999) == 0)
    }
}

struct NumberTextTests {
    @Test(arguments: [("0", 0), ("0x10", 16), ("0XfF", 255), ("-1", -1), ("-0x10", -16), ("65535", 65_535)])
    func integersAreParsed(text: String, number: Int) { #expect(Int.number(text) == number) }

    @Test(arguments: [
        "", "-", "0x", "+1", "--1", "-+1", "0x-1", "010", "1_000", "ff", "1.0", "99999999999999999999",
    ])
    func invalidIntegersAreRefused(text: String) { #expect(Int.number(text) == nil) }

    @Test func rangeErrorNamesRange() {
        #expect(throws: BadInput("the MTU is 23 to 517, not 600")) {
            try UInt16(text: "600", in: 23...517, "the MTU")
        }
        #expect(throws: BadInput("\"010\" is not a number", hint: "hexadecimal numbers begin with 0x")) {
            try UInt16(text: "010", "a number")
        }
    }

    @Test(arguments: [
        ("0", "it has an odd number of digits"), ("0x01", "leave out the 0x"),
        ("01:02", "leave out the separators"),
        ("0g", "\"g\" is no digit"), ("０１", "is no digit"),
    ])
    func invalidHexErrorStatesReason(text: String, why: String) throws {
        let error = #expect(throws: BadInput.self) { try [UInt8](hexText: text) }
        #expect(try #require(error).reason.contains(why))
    }
}

struct DurationTests {
    @Test(
        arguments: [
            ("500ms", 500_000_000), ("152.5ms", 152_500_000), ("10s", 10_000_000_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000), ("1.5s", 1_500_000_000), ("625us", 625_000), ("0s", 0),
            ("0.5m", 30_000_000_000),
            ("100h", 360_000_000_000_000),
        ] as [(String, Int64)])
    func durationsAreParsed(text: String, nanoseconds: Int64) throws {
        let duration = try Duration(text: text)
        #expect(duration == .nanoseconds(nanoseconds))
        #expect(try Duration(text: duration.text) == duration)
    }

    @Test(arguments: [
        "", "s", "10", "10 s", "-1s", "1e3s", "10S", "1d", "1s2", "1.s", "99999999999999999999h",
        "0.0000000001s", "9999999h",
    ])
    func invalidDurationsAreRefused(text: String) {
        #expect(throws: BadInput.self) { try Duration(text: text) }
    }

    @Test(
        arguments: [
            (20_000_000, "20ms"), (10_240_000_000, "10.24s"), (120_000_000_000, "2m"),
            (90_000_000_000, "90s"),
            (7_200_000_000_000, "2h"), (1_500, "1.5us"), (500, "0.5us"), (0, "0s"), (1_250_000, "1.25ms"),
        ] as [(Int64, String)])
    func durationsAreFormatted(nanoseconds: Int64, text: String) {
        #expect(Duration.nanoseconds(nanoseconds).text == text)
    }
}

struct MedicalFloatTests {
    /// IEEE 11073-20601, 5.2.3; the first is from the Health Thermometer Profile.
    @Test(
        arguments: [
            (0xff00_016f, .four, "36.7"), (0xfe00_0e4c, .four, "36.60"), (0x0000_0000, .four, "0"),
            (0x007f_ffff, .four, "NaN"), (0x0080_0000, .four, "NRes"), (0x007f_fffe, .four, "+INF"),
            (0x0080_0002, .four, "-INF"), (0x0080_0001, .four, "reserved"), (0xffff_ffff, .four, "-0.1"),
            (0xf16f, .two, "36.7"), (0x0072, .two, "114"), (0x07ff, .two, "NaN"), (0x0800, .two, "NRes"),
            (0x07fe, .two, "+INF"), (0x0802, .two, "-INF"), (0x0801, .two, "reserved"),
            (0x0803, .two, "-2045"),
            (0x107d, .two, "1250"), (0xe096, .two, "1.50"),
        ] as [(UInt32, MedicalFloat.Width, String)])
    func medicalFloatsRoundTrip(bits: UInt32, width: MedicalFloat.Width, text: String) throws {
        let number = MedicalFloat(bits: bits, width: width)
        #expect(number.description == text)
        #expect(number.bits == bits)
        #expect(try MedicalFloat(text: text.lowercased(), width: width).description == text)
    }

    @Test(arguments: [("2046", 0x10cc, nil), ("5000", 0x11f4, "5000"), ("0.000000", 0xa000, "0.000000")])
    func mantissaIsScaledToFit(text: String, bits: UInt32, shown: String?) throws {
        guard let shown else {
            #expect(throws: BadInput.self) { try MedicalFloat(text: text, width: .two) }
            return
        }
        let number = try MedicalFloat(text: text, width: .two)
        #expect(number.bits == bits)
        #expect(number.description == shown)
    }

    @Test(arguments: ["36.123", "2046", "1e12", "1e-9", "", "x", "20460000000000"])
    func invalidSFloatTextIsRefused(text: String) {
        #expect(throws: BadInput.self) { try MedicalFloat(text: text, width: .two) }
    }

    @Test func everyBitPatternRoundTrips() {
        for bits in UInt32(0)...0xffff { #expect(MedicalFloat(bits: bits, width: .two).bits == bits) }
        var random = SplitMix64(seed: 1)
        for _ in 0..<10_000 {
            let bits = UInt32.random(in: 0 ... .max, using: &random)
            #expect(MedicalFloat(bits: bits, width: .four).bits == bits)
        }
    }
}
