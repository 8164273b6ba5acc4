import BLECore
import Testing

private let vendor = BluetoothUUID(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e)

@Suite struct BluetoothUUIDTests {
    @Test func randomUUIDsAreOfVersion4() {
        let all = (0..<1000).map { _ in BluetoothUUID.random() }
        #expect(Set(all).count == all.count)
        #expect(all.allSatisfy { $0.value >> 76 & 0xf == 4 && $0.value >> 62 & 3 == 2 && $0.uint32 == nil })
    }

    @Test func shortFormsEqualLongForms() {
        let long = BluetoothUUID(0x0000_180f_0000_1000_8000_0080_5f9b_34fb)
        #expect(long == 0x180f)
        #expect(long == BluetoothUUID(uint32: 0x180f))
        #expect(long.hashValue == BluetoothUUID(0x180f as UInt16).hashValue)
        #expect(long.uint16 == 0x180f)
        #expect(BluetoothUUID(uint32: 0x1_180f).uint16 == nil)
        #expect(BluetoothUUID(uint32: 0x1_180f).uint32 == 0x1_180f)
        #expect(vendor.uint32 == nil)
        // A UUID that differs from the Base UUID in its last octet has no short form.
        #expect(BluetoothUUID(0x0000_180f_0000_1000_8000_0080_5f9b_34fc).uint32 == nil)
    }

    @Test func integerLiteralsCreateUUIDs() {
        #expect(0x1234_5678 as BluetoothUUID == BluetoothUUID(uint32: 0x1234_5678))
        #expect(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e as BluetoothUUID == vendor)
    }

    @Test(
        arguments: [
            ("180f", 0x180f, "180f"),
            ("180F", 0x180f, "180f"),
            ("0x180f", 0x180f, "180f"),
            ("0X180f", 0x180f, "180f"),
            ("0000180f", 0x180f, "180f"),
            ("1234567a", 0x1234_567a, "1234567a"),
            ("0000180f-0000-1000-8000-00805f9b34fb", 0x180f, "180f"),
            ("6E400001-B5A3-F393-E0A9-E50E24DCCA9E", vendor, "6e400001-b5a3-f393-e0a9-e50e24dcca9e"),
        ] as [(String, BluetoothUUID, String)])
    func parsesAndFormatsText(_ text: String, _ uuid: BluetoothUUID, _ shortest: String) throws {
        #expect(try BluetoothUUID(text) == uuid)
        #expect(uuid.description == shortest)
        #expect(try BluetoothUUID(uuid.dashed) == uuid)
        #expect(uuid.dashed.utf8.count == 36)
    }

    @Test(arguments: [
        "", "18", "180", "180g", "0x", "0x18", "180f0", "0x0000180", "6e400001b5a3f393e0a9e50e24dcca9e",
        "6e400001-b5a3-f393-e0a9e-50e24dcca9e", "6e400001-b5a3-f393-e0a9-e50e24dcca9", " 180f", "180f ",
        "１８０ｆ",
        "-180", "+18f", "0x0x180f", "é80f", "6e400001-b5a3-f393-e0a9-e50e24dcca-e",
    ])
    func rejectsInvalidText(_ text: String) {
        #expect(throws: InvalidUUID(text: text)) { try BluetoothUUID(text) }
    }

    @Test(arguments: [0x180f, BluetoothUUID(uint32: 0x1234_5678), vendor, 0x0000, BluetoothUUID(UInt128.max)])
    func wireFormatRoundTrips(_ uuid: BluetoothUUID) throws {
        for width in UUIDWidth.allCases where width.rawValue >= uuid.width.rawValue {
            let bytes = [UInt8](capacity: width.rawValue) { $0.uuid(uuid, width: width) }
            #expect(bytes.count == width.rawValue)
            var reader = ByteReader(bytes.span, of: "test")
            #expect(try reader.uuid(width, "UUID") == uuid)
        }
        let att = [UInt8](capacity: 16) { $0.uuid(uuid, width: uuid.uint16 == nil ? .sixteen : .two) }
        var reader = ByteReader(att.span, of: "test")
        #expect(try reader.attUUID("UUID") == uuid)
    }

    @Test func attAcceptsOnlyTwoWidths() {
        for count in 0...17 where count != 2 && count != 16 {
            let bytes = [UInt8](repeating: 0, count: count)
            let error = #expect(throws: DecodeError.self) {
                var reader = ByteReader(bytes.span, of: "test")
                return try reader.attUUID("type")
            }
            #expect(error?.reason == .malformed("a UUID has 2 or 16 octets, not \(count)"))
        }
    }

    @Test func uuidIsEncodedLittleEndian() {
        #expect(
            [UInt8](capacity: 16) { $0.uuid(vendor, width: .sixteen) }.hex
                == "9ecadc240ee5a9e093f3a3b50100406e")
    }

    @Test func randomTextNeverTraps() throws {
        var random = SplitMix64(seed: 5)
        let alphabet = Array("0123456789abcdefABCDEFxX-g é")
        for _ in 0..<20_000 {
            let text = String(
                (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                })
            guard let uuid = try? BluetoothUUID(text) else { continue }
            #expect(try BluetoothUUID(uuid.description) == uuid)
        }
        for _ in 0..<2_000 {
            let uuid = BluetoothUUID(UInt128.random(in: 0...UInt128.max, using: &random))
            #expect(try BluetoothUUID(uuid.description) == uuid)
        }
    }
}
