import ATT
import BLECore
import GATTClient
import Testing

private let cccd = RemoteDescriptor(uuid: 0x2902, handle: 0x0023)
private let level = RemoteCharacteristic(
    uuid: 0x2a19, handle: 0x0021, valueHandle: 0x0022, endHandle: 0x0023, properties: [.read, .notify],
    descriptors: [cccd])
private let name = RemoteCharacteristic(
    uuid: 0x2a00, handle: 0x0002, valueHandle: 0x0003, endHandle: 0x0003, properties: .read)
private let access = RemoteService(
    uuid: 0x1800, handle: 0x0001, endHandle: 0x0010, characteristics: [name])
private let battery = RemoteService(
    uuid: 0x180f, handle: 0x0020, endHandle: 0xffff, characteristics: [level])
private let database = RemoteDatabase(services: [battery, access])

@Test func databaseLooksUpByType() {
    #expect(database.services == [access, battery])
    #expect(database.service(0x180f) == battery)
    #expect(database.service(0x180d) == nil)
    #expect(database.services(0x1800) == [access])
    #expect(database.characteristics(0x2a19) == [level])
    #expect(database.characteristics(0x2a19, in: 0x180f) == [level])
    #expect(database.characteristics(0x2a19, in: 0x1800).isEmpty)
    #expect(battery.characteristic(0x2a19) == level)
    #expect(level.descriptor(.clientCharacteristicConfiguration) == cccd)
    #expect(level.descriptor(0x2901) == nil)
}

@Test func databaseLooksUpByHandle() {
    let services: [(AttributeHandle, RemoteService?)] = [
        (0x0000, nil), (0x0001, access), (0x0010, access), (0x0011, nil), (0x001f, nil), (0x0020, battery),
        (0xffff, battery),
    ]
    for (handle, service) in services { #expect(database.service(containing: handle) == service) }
    let characteristics: [(AttributeHandle, RemoteCharacteristic?)] = [
        (0x0001, nil), (0x0002, name), (0x0003, name), (0x0004, nil), (0x0020, nil), (0x0021, level),
        (0x0023, level), (0x0024, nil),
    ]
    for (handle, found) in characteristics { #expect(database.characteristic(containing: handle) == found) }
    #expect(database.descriptor(0x0023) == cccd)
    #expect(database.descriptor(0x0022) == nil)
    #expect(RemoteDatabase().service(containing: 1) == nil)
}

@Test func databaseDescriptionsAreOneLine() {
    #expect("\(database)" == "2 services: 1800, 180f")
    #expect("\(RemoteDatabase(services: []))" == "0 services")
    #expect("\(RemoteDatabase(services: [battery]))" == "1 service: 180f")
    #expect("\(battery)" == "service 180f at 0x0020...0xffff: 2a19")
    #expect("\(level)" == "characteristic 2a19 at 0x0022: read|notify")
}
