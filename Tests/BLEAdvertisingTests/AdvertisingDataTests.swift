import BLEAdvertising
import BLECore
import TestSupport
import Testing

@Suite struct AdvertisingDataTests {
    /// A thermometer's advertisement with the fields that accessors read.
    let thermometer = AdvertisingData(
        octets(
            "020106 0303 0918 0416 0918 2a 05ff 4c00 0102 0319 0003 020a f4 0314 0f18 "
                + "0508 4b697463 0709 4b6974636865"))

    @Test func accessorsReturnFieldValues() {
        let data = thermometer
        #expect(data.problems == [])
        #expect(data.flags == [.leGeneralDiscoverable, .brEDRNotSupported])
        #expect(data.serviceUUIDs == [0x1809])
        #expect(data.solicitedServiceUUIDs == [0x180f])
        #expect(data.serviceData == [ServiceData(0x1809, [0x2a])])
        #expect(data.manufacturerData == [ManufacturerData(.apple, [1, 2])])
        #expect(data.appearance == 0x0300)
        #expect(data.txPower == -12)
        #expect(data.localName == LocalName("Kitche"))
        #expect(data.uri == nil)
        #expect(data.offers(0x1809))
        #expect(!data.offers(0x180f))
    }

    @Test func emptyDataHasNoFields() {
        for data in [AdvertisingData(), AdvertisingData([0, 0, 0])] {
            #expect(data.fields == [])
            #expect(data.problem == nil)
            #expect(data.significantCount == 0)
            #expect(data.flags == nil)
            #expect(data.localName == nil)
            #expect(data.serviceUUIDs == [])
        }
    }

    @Test func structuresExposeTypeAndContentRange() {
        let data = AdvertisingData(octets("020106 0109 0000"))
        let structures = Array(data.structures)
        #expect(structures.map(\.type) == [.flags, .completeLocalName])
        #expect(structures.map(\.content) == [2..<3, 5..<5])
        #expect(structures.map(\.offset) == [0, 3])
        #expect(data.significantCount == 5)
        #expect(data.localName?.text == "")
    }

    /// Valid fields are kept if a malformed end follows them.
    @Test(arguments: [
        ("020106 0909 41", 3, DecodeError.Reason.truncated(needed: 9, available: 2)),
        ("020106 ff", 3, .truncated(needed: 255, available: 0)),
        ("020106 00000100", 5, .malformed("only zeros may follow")),
    ])
    func malformedTailKeepsEarlierFields(_ hex: String, _ offset: Int, _ reason: DecodeError.Reason) throws {
        let data = AdvertisingData(octets(hex))
        let problem = try #require(data.problem)
        #expect(problem.offset == offset)
        #expect(problem.reason == reason)
        #expect(data.fields == [.flags(.discoverable)])
        #expect(data.significantCount == 3)
        #expect(data.problems == [problem])
    }

    @Test func completeNameIsPreferred() {
        #expect(AdvertisingData(octets("020841 020942")).localName == LocalName("B"))
        #expect(AdvertisingData(octets("020841")).localName == LocalName("A", isComplete: false))
    }

    @Test func malformedFieldsAreSkipped() {
        let data = AdvertisingData(octets("030a0102 020a04 020305 03030a18 0119 031901 00"))
        #expect(data.txPower == 4)
        #expect(data.serviceUUIDs == [0x180a])
        #expect(data.offers(0x180a))
        #expect(data.appearance == 1)
        #expect(data.problems.count == 3)
    }

    @Test func flagsAcceptOtherLengths() {
        #expect(AdvertisingData(octets("0101")).flags == [])
        #expect(AdvertisingData(octets("03010680")).flags == .discoverable)
    }

    @Test func wideFormsMatchShortUUIDs() {
        #expect(AdvertisingData(octets("1107 fb349b5f80000080001000000d180000")).offers(0x180d))
        #expect(AdvertisingData(octets("0505 0d180000")).offers(0x180d))
    }

    @Test func invalidUTF8NamesKeepTheirOctets() throws {
        let name = try #require(AdvertisingData(octets("0509 41ff42c3")).localName)
        #expect(name.text == "A\u{fffd}B\u{fffd}")
        #expect(name.value.octets == octets("41ff42c3"))
        #expect(!name.value.isValid)
        #expect(name != LocalName("A\u{fffd}B\u{fffd}"))
        // Two encodings of one letter are different octets.
        #expect(UTF8Text("\u{e9}") != UTF8Text("e\u{301}"))
        #expect(UTF8Text("\u{e9}") == "\u{e9}")
    }

    @Test func overlongFieldFailsToEncode() throws {
        let longest = AdvertisingField.manufacturer(.init(.test, [UInt8](repeating: 7, count: 252)))
        #expect(try AdvertisingData([longest]).fields == [longest])
        let longer = AdvertisingField.manufacturer(.init(.test, [UInt8](repeating: 7, count: 253)))
        #expect(throws: AdvertisingFieldTooLong(type: .manufacturerSpecificData, octets: 257)) {
            try AdvertisingData([longer])
        }
    }

    /// No bytes cause a trap. For any payload, the fields encode to its significant octets.
    @Test(arguments: [UInt64(1), 2, 3, 4])
    func randomBytesRoundTrip(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<5_000 {
            var bytes = random.bytes(upTo: 40)
            // Half of the payloads are plausible: sequences of structures with assigned types.
            if Bool.random(using: &random) {
                bytes = (0..<4).flatMap { _ in
                    let content = random.bytes(upTo: 34)
                    let type = AdvertisingDataType.assigned.randomElement(using: &random)?.rawValue ?? 0
                    return [UInt8(content.count + 1), type] + content
                }
            }
            let data = AdvertisingData(bytes)
            let fields = data.fields
            #expect(try AdvertisingData(fields).bytes == Array(bytes[..<data.significantCount]))
            #expect((data.problem == nil) == bytes[data.significantCount...].allSatisfy { $0 == 0 })
            let lists = fields.flatMap { field in
                if case .services(let list) = field, list.kind != .solicited {
                    list.uuids
                } else {
                    [BluetoothUUID]()
                }
            }
            #expect(data.serviceUUIDs == lists)
            #expect(lists.allSatisfy(data.offers))
            let names = fields.compactMap { if case .name(let name) = $0 { name } else { nil } }
            #expect(data.localName == names.first(where: \.isComplete) ?? names.first)
        }
    }
}
