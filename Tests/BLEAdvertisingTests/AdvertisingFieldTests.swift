import BLEAdvertising
import BLECore
import TestSupport
import Testing

/// A whole AD structure, and the field that it encodes.
struct FieldSample: CustomTestStringConvertible {
    let hex: String
    let field: AdvertisingField
    /// Whether another number of octets is an error.
    var isFixed = true

    var testDescription: String { "\(field.type): \(hex)" }
}

private let key: UInt128 = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100
private let keyHex = "000102030405060708090a0b0c0d0e0f"
private let vendorUUID = BluetoothUUID(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e)
private let vendorUUIDHex = "9ecadc240ee5a9e093f3a3b50100406e"

let fieldSamples: [FieldSample] = [
    FieldSample(hex: "02 01 06", field: .flags(.discoverable), isFixed: false),
    FieldSample(hex: "03 02 0d18", field: .services(.init(.incomplete, [0x180d])), isFixed: false),
    FieldSample(hex: "05 03 0d180f18", field: .services(.init(.complete, [0x180d, 0x180f])), isFixed: false),
    FieldSample(hex: "01 03", field: .services(.init(.complete, [])), isFixed: false),
    FieldSample(
        hex: "05 04 78563412", field: .services(.init(.incomplete, [.init(uint32: 0x1234_5678)])),
        isFixed: false),
    FieldSample(
        hex: "05 05 0d180000", field: .services(.init(.complete, [0x180d], width: .four)), isFixed: false),
    FieldSample(
        hex: "11 06 \(vendorUUIDHex)", field: .services(.init(.incomplete, [vendorUUID])), isFixed: false),
    FieldSample(
        hex: "11 07 fb349b5f80000080001000000d180000",
        field: .services(.init(.complete, [0x180d], width: .sixteen)), isFixed: false),
    FieldSample(
        hex: "04 08 50756c", field: .name(LocalName("Pul", isComplete: false)), isFixed: false),
    FieldSample(hex: "05 09 50756c73", field: .name(LocalName("Puls")), isFixed: false),
    FieldSample(hex: "02 0a f4", field: .txPower(-12)),
    FieldSample(hex: "04 0d 0c025a", field: .classOfDevice(ClassOfDevice(0x5a020c))),
    FieldSample(hex: "11 0e \(keyHex)", field: .outOfBand(.init(.hashC192, key))),
    FieldSample(hex: "11 0f \(keyHex)", field: .outOfBand(.init(.randomizerR192, key))),
    FieldSample(
        hex: "09 10 0200 6b1d 4602 3905",
        field: .deviceID(.init(vendorSource: 2, vendor: 0x1d6b, product: 0x0246, version: 0x0539))),
    FieldSample(hex: "11 10 \(keyHex)", field: .outOfBand(.init(.temporaryKey, key)), isFixed: false),
    FieldSample(hex: "02 11 0b", field: .securityManagerFlags([.dataPresent, .leSupported, .randomAddress])),
    FieldSample(
        hex: "05 12 0600 800c", field: .connectionIntervalRange(.init(minimum: 6, maximum: 3200))),
    FieldSample(hex: "03 14 1218", field: .services(.init(.solicited, [0x1812])), isFixed: false),
    FieldSample(
        hex: "05 1f 12180000", field: .services(.init(.solicited, [0x1812], width: .four)), isFixed: false),
    FieldSample(
        hex: "11 15 \(vendorUUIDHex)", field: .services(.init(.solicited, [vendorUUID])), isFixed: false),
    FieldSample(hex: "04 16 0f18 64", field: .serviceData(.init(0x180f, [100])), isFixed: false),
    FieldSample(
        hex: "06 20 78563412 01", field: .serviceData(.init(.init(uint32: 0x1234_5678), [1])),
        isFixed: false),
    FieldSample(
        hex: "12 21 \(vendorUUIDHex) 01", field: .serviceData(.init(vendorUUID, [1])), isFixed: false),
    FieldSample(
        hex: "0d 17 665544332211 010000000000",
        field: .targetAddresses(.init(.public, [0x1122_3344_5566, 1])), isFixed: false),
    FieldSample(
        hex: "07 18 6655443322c1", field: .targetAddresses(.init(.random, [0xc122_3344_5566])),
        isFixed: false),
    FieldSample(hex: "03 19 c100", field: .appearance(0x00c1)),
    FieldSample(hex: "03 1a a000", field: .advertisingInterval(.init(units: 160))),
    FieldSample(
        hex: "04 2f a00000", field: .advertisingInterval(.init(units: 160, width: .three)), isFixed: false),
    FieldSample(
        hex: "05 2f 00000001", field: .advertisingInterval(.init(units: 0x0100_0000)), isFixed: false),
    FieldSample(
        hex: "08 1b 665544332211 01",
        field: .deviceAddress(.init(DeviceAddress(0x1122_3344_5566, type: .random)))),
    FieldSample(hex: "02 1c 02", field: .role(.peripheralPreferred)),
    FieldSample(hex: "11 1d \(keyHex)", field: .outOfBand(.init(.hashC256, key))),
    FieldSample(hex: "11 1e \(keyHex)", field: .outOfBand(.init(.randomizerR256, key))),
    FieldSample(hex: "11 22 \(keyHex)", field: .outOfBand(.init(.confirmation, key))),
    FieldSample(hex: "11 23 \(keyHex)", field: .outOfBand(.init(.random, key))),
    FieldSample(hex: "06 24 17 2f2f612e", field: .uri(AdvertisedURI("https://a.")), isFixed: false),
    FieldSample(hex: "03 25 0001", field: .opaque(.indoorPositioning, [0, 1]), isFixed: false),
    FieldSample(
        hex: "09 26 01 02 01 ff 02 01 01 aa",
        field: .transportDiscovery(
            .init([
                .init(organization: 1, flags: 2, data: [0xff]),
                .init(organization: 2, flags: 1, data: [0xaa]),
            ])), isFixed: false),
    FieldSample(hex: "03 27 0180", field: .supportedFeatures(.init(octets: [0x01, 0x80])), isFixed: false),
    FieldSample(
        hex: "08 28 ffffffff1f 3412",
        field: .channelMapUpdate(.init(channels: 0x1f_ffff_ffff, instant: 0x1234))),
    FieldSample(hex: "03 29 0102", field: .opaque(.pbADV, [1, 2]), isFixed: false),
    FieldSample(hex: "03 2a 0102", field: .opaque(.meshMessage, [1, 2]), isFixed: false),
    FieldSample(hex: "03 2b 0102", field: .opaque(.meshBeacon, [1, 2]), isFixed: false),
    FieldSample(hex: "05 2d 63616665", field: .broadcastCode("cafe"), isFixed: false),
    FieldSample(hex: "07 2e 010203a1b2c3", field: .setIdentifier(.init(0xc3b2_a103_0201))),
    FieldSample(hex: "05 30 526f6f6d", field: .broadcastName("Room"), isFixed: false),
    FieldSample(
        hex: "0c 31 0102030485 aabb 0d0c0b0a",
        field: .encrypted(.init(randomizer: 0x85_0403_0201, payload: [0xaa, 0xbb], mic: 0x0a0b_0c0d)),
        isFixed: false),
    FieldSample(
        hex: "09 32 78563412 04 05 06 07",
        field: .responseTiming(
            .init(
                accessAddress: 0x1234_5678, subeventCount: 4, subeventInterval: 5, responseSlotDelay: 6,
                responseSlotSpacing: 7))),
    FieldSample(hex: "04 34 000102", field: .opaque(.electronicShelfLabel, [0, 1, 2]), isFixed: false),
    FieldSample(
        hex: "03 3d 83 32",
        field: .threeDInformation(
            .init(
                features: [.associationNotification, .batteryLevelReporting, .factoryTestMode],
                pathLossThreshold: 50))),
    FieldSample(hex: "05 ff 4c00 0215", field: .manufacturer(.init(.apple, [0x02, 0x15])), isFixed: false),
    FieldSample(hex: "22 2c \(bigInfoHex)", field: .bigInfo(bigInfo), isFixed: false),
    FieldSample(
        hex: "3a 2c \(bigInfoHex) 0807060504030201 \(keyHex)", field: .bigInfo(encryptedBIGInfo),
        isFixed: false),
    FieldSample(hex: "03 99 0102", field: .opaque(.init(0x99), [1, 2]), isFixed: false),
    FieldSample(hex: "01 99", field: .opaque(.init(0x99), []), isFixed: false),
    // Reserved forms of known types are preserved.
    FieldSample(hex: "01 01", field: .opaque(.flags, []), isFixed: false),
    FieldSample(hex: "03 01 0680", field: .opaque(.flags, [0x06, 0x80]), isFixed: false),
]

private let bigInfoHex = "ff3f5e8d b5 debc6a 452391 fb 00 04030201 1027800f efbe 9078563452 7698badcfe"

private let bigInfo: BIGInfo = {
    var info = BIGInfo()
    info.offset = 0x3fff
    info.isoInterval = 0xabc
    info.streamCount = 0x11
    info.subeventCount = 0x15
    info.burstNumber = 5
    info.subInterval = 0xabcde
    info.pretransmissionOffset = 6
    info.streamSpacing = 0x12345
    info.repetitionCount = 9
    info.maximumPDU = 0xfb
    info.seedAccessAddress = 0x0102_0304
    info.sduInterval = 10_000
    info.maximumSDU = 0x0f8
    info.baseCRCInit = 0xbeef
    info.channels = 0x12_3456_7890
    info.phy = 2
    info.payloadCount = 0x7e_dcba_9876
    info.isFramed = true
    return info
}()

private let encryptedBIGInfo: BIGInfo = {
    var info = bigInfo
    info.encryption = .init(initializationVector: 0x0102_0304_0506_0708, sessionKeyDiversifier: key)
    return info
}()

@Suite struct AdvertisingFieldTests {
    @Test(arguments: fieldSamples)
    func decodesAndEncodes(_ sample: FieldSample) throws {
        let data = AdvertisingData(octets(sample.hex))
        #expect(data.fields == [sample.field])
        #expect(data.problem == nil)
        #expect(sample.field.encodedCount == data.bytes.count)
        #expect(try AdvertisingData([sample.field]) == data)
    }

    @Test(arguments: fieldSamples)
    func otherLengthsPreserveOctets(_ sample: FieldSample) {
        let content = Array(octets(sample.hex).dropFirst(2))
        for other in content.indices.map({ Array(content[..<$0]) }) + [content + [0]] {
            let field = AdvertisingField(sample.field.type, content: other.span)
            #expect(field.type == sample.field.type)
            #expect(field.content == other)
            guard sample.isFixed else { continue }
            guard case .malformed(sample.field.type, other, _) = field else {
                Issue.record("\(field) is not malformed")
                return
            }
        }
    }

    /// The error of a malformed field counts octets from the start of the payload.
    @Test(arguments: [
        ("020106 030a0102", 6, DecodeError.Reason.trailing(count: 1)),
        ("020106 010a", 5, .truncated(needed: 1, available: 0)),
        ("020106 0403010203", 7, .truncated(needed: 2, available: 1)),
        ("020106 081b01020304050602", 11, .invalid(value: 2)),
        ("020106 032f0102", 5, .truncated(needed: 3, available: 2)),
        ("020106 0117", 5, .truncated(needed: 6, available: 0)),
        ("020106 0124", 5, .truncated(needed: 1, available: 0)),
        ("020106 04ff4c0002 02ff4c", 10, .truncated(needed: 2, available: 1)),
        ("020106 0526010202aa", 8, .truncated(needed: 2, available: 1)),
        ("020106 08310102030405aabb", 10, .truncated(needed: 4, available: 2)),
    ])
    func malformedFieldsReportOffset(_ hex: String, _ offset: Int, _ reason: DecodeError.Reason) throws {
        let data = AdvertisingData(octets(hex))
        let problem = try #require(data.problems.first)
        #expect(data.problems.count == 1)
        #expect(data.problem == nil)
        #expect(problem.offset == offset)
        #expect(problem.reason == reason)
        #expect(data.flags == .discoverable)
        #expect(try AdvertisingData(data.fields) == data)
    }

    /// A value that needs more octets than its width has is encoded with a greater width.
    @Test func narrowWidthsAreWidened() {
        #expect(ServiceUUIDs(.complete, [0x180d, vendorUUID]).width == .sixteen)
        #expect(ServiceData(vendorUUID, [], width: .four).width == .sixteen)
        #expect(AdvertisingInterval(units: 0x1_0000).width == .three)
        #expect(AdvertisingInterval(units: 0x100_0000, width: .three).width == .four)
        #expect(AdvertisingInterval(units: 160).duration == .milliseconds(100))
    }

    @Test func assignedTypesHaveNames() {
        let assigned = AdvertisingDataType.assigned
        #expect(assigned.count == 50)
        #expect(Set(assigned.map(\.description)).count == 50)
        #expect(AdvertisingDataType.completeLocalName.description == "Complete Local Name")
        #expect(AdvertisingDataType(0x99).description == "0x99")
        #expect(AdvertisingDataType(0x99).name == nil)
        // Every assigned type has a sample above, with a case of its own or as opaque data.
        let sampled = Set(fieldSamples.map(\.field.type))
        #expect(assigned.filter { !sampled.contains($0) } == [])
    }
}

@Test func appearanceRequiresTwoOctets() throws {
    let appearance = try Appearance([0xc1, 0x00])
    #expect(appearance == 0x00c1)
    #expect(appearance.encoded == [0xc1, 0x00])
    #expect(throws: DecodeError.self) { try Appearance([0xc1]) }
    #expect(
        throws: DecodeError(packet: "Appearance", field: "end", offset: 2, reason: .trailing(count: 1))
    ) {
        try Appearance([0xc1, 0x00, 0x00])
    }
}
