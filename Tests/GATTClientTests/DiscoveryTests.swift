import ATT
import BLECore
import GATTClient
import Testing

private let heartRate = RemoteService(uuid: 0x180d, handle: 0x0010, endHandle: 0x001f)

@Test("GAD/CL/BV-01-C: all primary services, in groups of one width")
func allPrimaryServices() throws {
    let long = BluetoothUUID(0x0000_0000_0000_0000_0000_b0a0_9080_7060)
    let services = try run(
        DiscoverServices.primary,
        [
            ("10 0100 ffff 0028", "11 06 0100 0f00 0018 1000 1f00 0d18"),
            ("10 2000 ffff 0028", "11 14 2000 2f00 607080 90a0b0 00000000000000000000"),
            ("10 3000 ffff 0028", "01 10 3000 0a"),
        ])
    #expect(
        services == [
            RemoteService(uuid: 0x1800, handle: 0x0001, endHandle: 0x000f), heartRate,
            RemoteService(uuid: long, handle: 0x0020, endHandle: 0x002f),
        ])
}

@Test("GAD/CL/BV-01-C: a group that ends at 0xffff ends the procedure")
func lastPrimaryService() throws {
    let services = try run(
        DiscoverServices.primary, [("10 0100 ffff 0028", "11 06 1000 ffff 0d18")])
    #expect(services == [RemoteService(uuid: 0x180d, handle: 0x0010, endHandle: 0xffff)])
    #expect(try run(DiscoverServices.primary, [("10 0100 ffff 0028", "01 10 0100 0a")]).isEmpty)
}

@Test("GAD/CL/BV-02-C: primary services by UUID, short and long")
func primaryServicesByUUID() throws {
    let services = try run(
        DiscoverServices.primary(0x180d),
        [
            ("06 0100 ffff 0028 0d18", "07 1000 1f00 4000 4f00"),
            ("06 5000 ffff 0028 0d18", "01 06 5000 0a"),
        ])
    #expect(services == [heartRate, RemoteService(uuid: 0x180d, handle: 0x0040, endHandle: 0x004f)])
    let long = BluetoothUUID(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f)
    let found = try run(
        DiscoverServices.primary(long),
        [("06 0100 ffff 0028 0f0e0d0c0b0a09080706050403020100", "07 1000 ffff")])
    #expect(found == [RemoteService(uuid: long, handle: 0x0010, endHandle: 0xffff)])
}

@Test func unsupportedSecondaryDiscoveryReturnsNoServices() throws {
    for code in ["0a", "10", "06"] {
        #expect(try run(DiscoverServices.secondary, [("10 0100 ffff 0128", "01 10 0100" + code)]).isEmpty)
    }
    let found = try run(
        DiscoverServices.secondary, [("10 0100 ffff 0128", "11 06 1000 ffff 0d18")])
    #expect(found == [RemoteService(uuid: 0x180d, handle: 0x0010, endHandle: 0xffff, isPrimary: false)])
    // Primary services must be grouped.
    let error = try failure(of: DiscoverServices.primary, [("10 0100 ffff 0028", "01 10 0100 10")])
    #expect(error == .att(ATTErrorResponse(.readByGroupTypeRequest, 0x0001, .unsupportedGroupType)))
}

@Test("GAD/CL/BV-03-C: included services; long UUIDs are read, unless they are known")
func includedServices() throws {
    let long = BluetoothUUID(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100)
    let declarations: Dialogue = [
        ("08 1000 1f00 0228", "09 08 1100 5000 5f00 0f18"),
        ("08 1200 1f00 0228", "09 06 1200 6000 6f00 1300 7000 7f00"),
        ("08 1400 1f00 0228", "01 08 1400 0a"),
    ]
    let reads: Dialogue = [
        ("0a 7000", "0b 0a18"), ("0a 6000", "0b 000102030405060708090a0b0c0d0e0f"),
    ]
    let expected = [
        RemoteInclude(handle: 0x0011, uuid: 0x180f, serviceHandle: 0x0050, endHandle: 0x005f),
        RemoteInclude(handle: 0x0012, uuid: long, serviceHandle: 0x0060, endHandle: 0x006f),
        RemoteInclude(handle: 0x0013, uuid: 0x180a, serviceHandle: 0x0070, endHandle: 0x007f),
    ]
    let range = AttributeRange(0x0010, 0x001f)
    #expect(try run(FindIncludedServices(in: range), declarations + reads) == expected)
    let known: [AttributeHandle: BluetoothUUID] = [0x0060: long, 0x0070: 0x180a]
    #expect(try run(FindIncludedServices(in: range, known: known), declarations) == expected)
}

private let characteristics: Dialogue = [
    ("08 1000 1f00 0328", "09 07 1100 10 1200 372a 1400 02 1500 382a"),
    ("08 1500 1f00 0328", "09 15 1800 88 1a00 000102030405060708090a0b0c0d0e0f"),
    ("08 1900 1f00 0328", "01 08 1900 0a"),
]
private let measurement = RemoteCharacteristic(
    uuid: 0x2a37, handle: 0x0011, valueHandle: 0x0012, endHandle: 0x0013, properties: .notify)
private let location = RemoteCharacteristic(
    uuid: 0x2a38, handle: 0x0014, valueHandle: 0x0015, endHandle: 0x0017, properties: .read)
private let custom = RemoteCharacteristic(
    uuid: BluetoothUUID(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100), handle: 0x0018, valueHandle: 0x001a,
    endHandle: 0x001f, properties: [.write, .extendedProperties])

@Test("GAD/CL/BV-04-C: all characteristics of a service")
func allCharacteristics() throws {
    let found = try run(DiscoverCharacteristics(in: heartRate.range), characteristics)
    #expect(found == [measurement, location, custom])
    #expect(
        found.map(\.descriptorRange) == [
            AttributeRange(0x0013, 0x0013), AttributeRange(0x0016, 0x0017), AttributeRange(0x001b, 0x001f),
        ])
}

@Test("GAD/CL/BV-05-C: characteristics by UUID, filtered by the client")
func characteristicsByUUID() throws {
    let found = try run(DiscoverCharacteristics(in: heartRate.range, uuid: 0x2a38), characteristics)
    #expect(found == [location])
}

@Test("GAD/CL/BV-06-C: descriptors")
func descriptors() throws {
    let found = try run(
        DiscoverDescriptors(in: custom.descriptorRange),
        [
            ("04 1b00 1f00", "05 01 1b00 0029 1c00 0129"),
            ("04 1d00 1f00", "05 02 1d00 000102030405060708090a0b0c0d0e0f"),
            ("04 1e00 1f00", "05 01 1f00 0429"),
        ])
    #expect(
        found == [
            RemoteDescriptor(uuid: 0x2900, handle: 0x001b), RemoteDescriptor(uuid: 0x2901, handle: 0x001c),
            RemoteDescriptor(uuid: custom.uuid, handle: 0x001d),
            RemoteDescriptor(uuid: 0x2904, handle: 0x001f),
        ])
    #expect(try run(DiscoverDescriptors(in: nil), []).isEmpty)
}

@Test func discoversOneServiceWithContents() throws {
    let database = try run(
        DiscoverDatabase(service: 0x180d),
        [
            ("06 0100 ffff 0028 0d18", "07 1000 1f00"), ("06 2000 ffff 0028 0d18", "01 06 2000 0a"),
            ("08 1000 1f00 0228", "01 08 1000 0a"),
        ] + characteristics + [
            ("04 1300 1700", "05 01 1300 0229 1400 0328 1500 382a"), ("04 1600 1700", "01 04 1600 0a"),
            ("04 1b00 1f00", "01 04 1b00 0a"),
        ])
    #expect(database.services.map(\.uuid) == [0x180d])
    #expect(database.characteristics(0x2a37).first?.descriptors.map(\.handle) == [0x0013])
    #expect(
        try run(DiscoverDatabase(service: 0x180d), [("06 0100 ffff 0028 0d18", "01 06 0100 0a")])
            .services.isEmpty)
}

@Test func discoversWholeDatabase() throws {
    let database = try run(
        DiscoverDatabase(),
        [
            ("10 0100 ffff 0028", "11 06 0100 0100 0118 1000 1f00 0d18"),
            ("10 2000 ffff 0028", "01 10 2000 0a"),
            ("10 0100 ffff 0128", "11 06 0800 0a00 0f18"),
            ("10 0b00 ffff 0128", "01 10 0b00 0a"),
            // The service at 0x0001 has only its declaration and needs no requests. The requests below cover the handles of all others.
            ("08 0800 1f00 0228", "01 08 0800 0a"),
            ("08 0800 1f00 0328", "09 07 0900 02 0a00 192a 1100 10 1200 372a 1400 02 1500 382a"),
            ("08 1500 1f00 0328", "09 15 1800 88 1a00 000102030405060708090a0b0c0d0e0f"),
            ("08 1900 1f00 0328", "01 08 1900 0a"),
            // One response can contain the descriptors of two characteristics. The attributes between them are not
            // descriptors.
            ("04 1300 1700", "05 01 1300 0229 1400 0328 1500 382a"),
            ("04 1600 1700", "01 04 1600 0a"),
            ("04 1b00 1f00", "05 01 1b00 0029"),
            ("04 1c00 1f00", "01 04 1c00 0a"),
        ])
    var (first, third) = (measurement, custom)
    first.descriptors = [RemoteDescriptor(uuid: 0x2902, handle: 0x0013)]
    third.descriptors = [RemoteDescriptor(uuid: 0x2900, handle: 0x001b)]
    let level = RemoteCharacteristic(
        uuid: 0x2a19, handle: 0x0009, valueHandle: 0x000a, endHandle: 0x000a, properties: .read)
    let battery = RemoteService(
        uuid: 0x180f, handle: 0x0008, endHandle: 0x000a, isPrimary: false, characteristics: [level])
    let rate = RemoteService(
        uuid: 0x180d, handle: 0x0010, endHandle: 0x001f, characteristics: [first, location, third])
    let empty = RemoteService(uuid: 0x1801, handle: 0x0001, endHandle: 0x0001)
    #expect(database.services == [empty, battery, rate])
}
