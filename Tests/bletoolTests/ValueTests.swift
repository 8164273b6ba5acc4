import BLECore
import Testing

@testable import bletool

struct ValueFormatTests {
    @Test(
        arguments: [
            (.hex, "00ff", "00ff"), (.hex, "", ""), (.utf8, "48c3a9", "Hé"), (.u8, "ff", "255"),
            (.u16, "0102", "513"), (.u16, "01000203", "1,770"), (.u8, "000102", "0,1,2"),
            (.i16, "ffff0100", "-1,1"), (.f32, "0000c03f0000807f", "1.5,inf"),
            (.u32, "01000080", "2147483649"), (.i8, "ff", "-1"), (.i16, "0080", "-32768"),
            (.i32, "feffffff", "-2"),
            (.f32, "0000c03f", "1.5"), (.sfloat, "6ff1", "36.7"), (.float, "6f0100ff", "36.7"),
            (.json, "7b2261223a5b312c747275655d7d", #"{"a":[1,true]}"#),
        ] as [(ValueFormat, String, String)])
    func valuesRoundTrip(format: ValueFormat, hex: String, text: String) throws {
        let octets = try #require([UInt8](hex: hex))
        #expect(format.text(octets) == text)
        #expect(try format.octets(text) == octets)
        #expect(try ValueFormat.octets(argument: "\(format.rawValue):\(text)", format: nil) == octets)
    }

    @Test(
        arguments: [
            (.u16, "01"), (.u16, "010203"), (.u8, ""), (.json, "7b"), (.float, "0102"), (.utf8, "c328"),
        ]
            as [(ValueFormat, String)])
    func mismatchedValuesAreShownAsHex(format: ValueFormat, hex: String) throws {
        let octets = try #require([UInt8](hex: hex))
        #expect(format.text(octets) == "hex:\(hex)")
        #expect(format.jsonValue(octets) == .string(hex))
        #expect(try ValueFormat.octets(argument: format.text(octets), format: nil) == octets)
    }

    @Test(
        arguments: [
            (.u8, "256"), (.u8, "-1"), (.i8, "128"), (.i16, "-32769"), (.u8, "1.5"), (.u8, ""), (.u8, "1,"),
            (.f32, "x"),
            (.sfloat, "12345"), (.json, "{"), (.hex, "0"), (.hex, "zz"),
        ] as [(ValueFormat, String)])
    func invalidTextIsRefused(format: ValueFormat, text: String) {
        #expect(throws: BadInput.self) { try format.octets(text) }
    }

    @Test func numberListsAreParsedAndShown() throws {
        #expect(try ValueFormat.u16.octets("1,0x0203").hex == "01000302")
        #expect("\(ValueFormat.u16.jsonValue([1, 0, 2, 3]))" == "[1,770]")
        #expect("\(ValueFormat.f32.jsonValue([0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0x7f]))" == #"[1.5,"inf"]"#)
        #expect(!ValueFormat.u16.fits([1, 0, 2]))
    }

    @Test func argumentsAreHexByDefault() throws {
        #expect(try ValueFormat.octets(argument: "CAFE", format: nil).hex == "cafe")
        #expect(try ValueFormat.octets(argument: "cafe", format: .utf8).hex == "63616665")
        #expect(try ValueFormat.octets(argument: "hex:00", format: .utf8) == Array("hex:00".utf8))
        let error = #expect(throws: BadInput.self) { try ValueFormat.octets(argument: "Hello", format: nil) }
        #expect(try #require(error).hint?.contains("utf8:Hello") == true)
    }

    @Test func jsonValuesKeepTypes() {
        #expect(ValueFormat.u8.jsonValue([7]).description == "7")
        #expect(ValueFormat.float.jsonValue([0x4c, 0x0e, 0, 0xfe]).description == "36.60")
        #expect(ValueFormat.float.jsonValue([0xff, 0xff, 0x7f, 0]).description == #""NaN""#)
        #expect(ValueFormat.f32.jsonValue([0, 0, 0x80, 0x7f]).description == #""inf""#)
        #expect(ValueFormat.f32.jsonValue([0xac, 0xc5, 0x27, 0x37]).description == "1e-05")
        #expect(ValueFormat.json.jsonValue(Array(" [1.50] ".utf8)).description == "[1.50]")
    }

    @Test func formatsAreParsedByName() throws {
        #expect(try ValueFormat(text: "u16") == .u16)
        #expect(throws: BadInput.self) { try ValueFormat(text: "U16") }
    }
}

struct ValueTypeTests {
    @Test(
        arguments: [
            (0x2a19, "64", "100 %"), (0x2a6e, "6608", "21.50 °C"), (0x2a6e, "9cff", "-1.00 °C"),
            (0x2a00, "4869", "Hi"),
            (0x2a29, "41636d6500", "Acme"), (0x2a37, "0048", "72 bpm"), (0x2a37, "014801", "328 bpm"),
            (0x2a37, "1648ff03", "72 bpm"), (0x2a1c, "006f0100ff", "36.7 °C"),
            (0x2a1c, "016f0100ff", "36.7 °F"),
            (0x2a6c, "18fcff", "-10.00 m"), (0x2a07, "fc", "-4 dBm"), (0x2a6d, "6a8b0f00", "101873.0 Pa"),
            (0x2a19, "6400", "6400"), (0x2a37, "", ""), (0x2a00, "ff", "ff"), (0xfff1, "64", "64"),
            (0xfff1, "48656c6c6f", #"48656c6c6f "Hello""#), (0x2a00, "1b5b41", #"\u{1b}[A"#),
            (0xfff1, "3231", #"3231 "21""#), (0xfff1, "1b5b41", "1b5b41"), (0xfff1, "00000000", "00000000"),
        ] as [(UInt16, String, String)])
    func autoFormatFollowsCharacteristicType(uuid: UInt16, hex: String, text: String) throws {
        let value = try #require([UInt8](hex: hex))
        #expect(ValueFormat.auto.text(value, type: ValueType(of: BluetoothUUID(uuid))) == text)
    }

    /// The fields of a descriptor 0x2904 (format, exponent, unit, namespace and description), a value, and
    /// its text.
    @Test(arguments: [
        ("04002727010000", "07", "7"), ("06ff2f27010000", "d700", "21.5 °C"),
        ("0efead27010000", "18fc", "-10.00 %"),
        ("19000027010000", "4869", "Hi"), ("14002827010000", "0000c03f", "1.5 V"),
        ("160024270100ff", "6ff1", "36.7 Pa"),
        ("0a000027010000", "ffffffffffffffff", "18446744073709551615"),
        ("13000027010000", "ffffffffffffffffffffffffffffffff", "-1"),
        ("0fff0027010000", "9cffff", "-10.0"), ("1b000027010000", "64", "64"), ("0400", "64", "64"),
    ])
    func autoFormatFollowsPresentationFormat(format: String, hex: String, text: String) throws {
        let type = ValueType(of: 0xfff1, presentation: [UInt8](hex: format))
        #expect(ValueFormat.auto.text(try #require([UInt8](hex: hex)), type: type) == text)
    }

    @Test func autoFormatEncodesByType() throws {
        let temperature = ValueType(of: 0x2a6e)
        #expect(try ValueFormat.auto.octets("21.5", type: temperature).hex == "6608")
        #expect(throws: BadInput.self) { try ValueFormat.auto.octets("21.555", type: temperature) }
        #expect(throws: BadInput.self) { try ValueFormat.auto.octets("328", type: temperature) }
        #expect(try ValueFormat.auto.octets("Hi", type: ValueType(of: 0x2a00)) == Array("Hi".utf8))
        #expect(try ValueFormat.auto.octets("cafe", type: nil).hex == "cafe")
    }

    @Test(
        "a line for a program means one value",
        arguments: [
            ("c3a9", "é"), ("f09f918de2808df09f9180", "👍\u{200d}👀"), ("610a62", #"a\u{a}b"#),
            ("615c757b617d62", #"a\u{5c}u{a}b"#), ("ff", "hex:ff"), ("c328", "hex:c328"),
            ("6865783a6666", "hex:6865783a6666"), ("6865783acc813030", "hex:6865783acc813030"),
            ("", ""), ("00", #"\u{0}"#),
        ])
    func linesOfText(hex: String, line: String) throws {
        #expect(ValueFormat.utf8.line(try #require([UInt8](hex: hex))) == line)
    }

    @Test func linesOfNumbersAreTheirText() {
        #expect(ValueFormat.u16.line([1, 0]) == "1")
        #expect(ValueFormat.u16.line([1]) == "hex:01")
    }

    @Test func randomBytesFormatWithoutControlCharacters() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<2000 {
            let value = random.bytes(upTo: 24)
            let type = ValueType(of: 0xfff1, presentation: random.bytes(upTo: 7))
            for format in ValueFormat.allCases {
                #expect(format.text(value, type: type).unicodeScalars.allSatisfy { $0.value >= 0x20 })
                _ = try? JSONValue(text: format.jsonValue(value, type: type).description)
            }
        }
    }
}
