import ATT
import BLECore
import GATTServer
import Testing

private func handles(_ services: [GATTService], generic: GenericServices? = nil) throws -> [UInt16] {
    try AttributeDatabase(services, generic: generic).attributes.map(\.handle.rawValue)
}

@Test func handlesAreConsecutiveAndGapsArePreserved() throws {
    let value = GATTCharacteristic(0x2a19, properties: [.read, .notify])
    #expect(try handles([GATTService(0x180f, characteristics: [value])]) == [1, 2, 3, 4])
    let spread = GATTCharacteristic(
        0x2a1c, properties: .read,
        descriptors: [GATTDescriptor(0x2901, handle: 0x0020), GATTDescriptor(0x2904)], handle: 0x0012,
        valueHandle: 0x0015)
    #expect(
        try handles([GATTService(0x1809, handle: 0x0010, characteristics: [spread, value])])
            == [0x10, 0x12, 0x15, 0x20, 0x21, 0x22, 0x23, 0x24])
    #expect(try handles([GATTService(0x1809, handle: 0xffff)]) == [0xffff])
}

@Test func servicesWithoutHandleUseNextFreeRange() throws {
    func service(_ uuid: UInt16, at handle: AttributeHandle? = nil, _ characteristics: Int = 1) -> GATTService
    {
        GATTService(
            BluetoothUUID(uuid), handle: handle,
            characteristics: (0..<characteristics).map { _ in GATTCharacteristic(0xff01, properties: .read) })
    }
    let database = try AttributeDatabase(
        [service(1, at: 0x0008), service(2, 2), service(3, at: 0x0004), service(4), service(5, at: 0x0010)],
        generic: nil)
    let starts = database.attributes.filter(\.isService)
    // In the list, 2 follows 1 and 4 follows 3, but 4 does not fit between 0x0007 and 0x0008.
    #expect(starts.map(\.handle) == [0x0004, 0x0008, 0x000b, 0x0010, 0x0013])
    #expect(starts.map(\.value.first) == [3, 1, 2, 5, 4])
}

@Test func genericServicesComeFirst() throws {
    let wish = ConnectionParameters(interval: .microseconds(7500) ... .milliseconds(15))
    let generic = GenericServices(deviceName: "Thermo", appearance: 0x0300, preferredConnection: wish)
    let database = try AttributeDatabase([GATTService(0x1809, handle: 0x0020)], generic: generic)
    let types = database.attributes.map(\.type)
    #expect(
        types == [
            .primaryService, .characteristic, .deviceName, .characteristic, .appearance, .characteristic,
            .peripheralPreferredConnectionParameters, .primaryService, .characteristic, .serviceChanged,
            .clientCharacteristicConfiguration, .characteristic, .clientSupportedFeatures, .characteristic,
            .databaseHash, .characteristic, .serverSupportedFeatures, .primaryService,
        ])
    #expect(database[3]?.value == Array("Thermo".utf8))
    #expect(database[5]?.value == [0x00, 0x03])
    #expect(database[7]?.value == [6, 0, 12, 0, 0, 0, 0x90, 1])
    #expect(database.valueHandle(of: .serviceChanged) == 10)
    #expect(database.valueHandle(of: .serviceChanged, in: .genericAttribute) == 10)
    #expect(database.valueHandle(of: .serviceChanged, in: .genericAccess) == nil)
    #expect(database.valueHandle(of: .deviceName, in: 0x180f) == nil)
    #expect(database.valueHandle(of: .primaryService) == nil)
    #expect(AttributeDatabase.empty.attributes.isEmpty)
}

@Test func fixedLengthValueDefaultsToZeros() throws {
    let database = try AttributeDatabase(
        single(GATTCharacteristic(0xff01, properties: .read, length: .fixed(3))), generic: nil)
    #expect(database[3]?.value == [0, 0, 0])
}

@Test func attributesAreFoundByHandle() throws {
    let database = try AttributeDatabase(discoverable)
    let all = database.attributes.map(\.handle)
    for number in UInt16.min...0x60 {
        let handle = AttributeHandle(number)
        #expect(database.index(of: handle) == all.firstIndex(of: handle))
        #expect(database.index(atOrAfter: handle) == all.firstIndex { $0 >= handle } ?? all.count)
        #expect(database[handle]?.handle == (all.contains(handle) ? handle : nil))
    }
    #expect(database.index(atOrAfter: 0xffff) == all.count)
}

private let readable = GATTCharacteristic(0xff01, properties: .read)

private func characteristic(
    _ properties: CharacteristicProperties = .read, _ change: (inout GATTCharacteristic) -> Void
) -> [GATTService] {
    var characteristic = GATTCharacteristic(0xff01, properties: properties)
    change(&characteristic)
    return single(characteristic)
}

@Test func invalidServicesAreRefusedWithPlaceAndReason() throws {
    let cases: [([GATTService], String)] = [
        ([GATTService(1, handle: 0)], "service 0001: handle 0x0000 is taken or out of order"),
        (
            [GATTService(1, handle: 5, characteristics: [readable]), GATTService(2, handle: 7)],
            "service 0002: handle 0x0007 is taken or out of order"
        ),
        (
            [GATTService(1, handle: 5), GATTService(2, handle: 5)],
            "service 0002: handle 0x0005 is taken or out of order"
        ),
        (
            [GATTService(1, handle: 0xffff, characteristics: [readable])],
            "service 0001, characteristic ff01: no handles are left up to 0xffff"
        ),
        (
            characteristic { $0.handle = 1 },
            "service ff00, characteristic ff01: handle 0x0001 is taken or out of order"
        ),
        (
            characteristic { $0.valueHandle = 2 },
            "service ff00, characteristic ff01: handle 0x0002 is taken or out of order"
        ),
        (
            characteristic { $0.descriptors = [GATTDescriptor(0x2901, handle: 3)] },
            "service ff00, characteristic ff01, descriptor 2901: handle 0x0003 is taken or out of order"
        ),
        (
            characteristic { $0.value = .cached([UInt8](repeating: 0, count: 513)) },
            "service ff00, characteristic ff01: the value has 513 octets, at most 512 are allowed"
        ),
        (
            characteristic {
                $0.value = [1, 2]
                $0.length = .variable(max: 1)
            }, "service ff00, characteristic ff01: the value has 2 octets, at most 1 are allowed"
        ),
        (
            characteristic {
                $0.value = [1]
                $0.length = .fixed(2)
            }, "service ff00, characteristic ff01: the value has 1 octets, not the fixed 2"
        ),
        (
            characteristic {
                $0.value = [1]
                $0.properties = [.read, .writeWithoutResponse, .notify]
            },
            "service ff00, characteristic ff01: "
                + "a cached value is only read, not writeWithoutResponse|notify: give `.stored(…)`, or no value"
        ),
        (
            characteristic {
                $0.value = [1]
                $0.permissions = AttributePermissions(read: .open, write: .open)
            },
            "service ff00, characteristic ff01: "
                + "a cached value is only read, not write: give `.stored(…)`, or no value"
        ),
        (
            characteristic {
                $0.value = [1]
                $0.onRead = { _ in .value([2]) }
            },
            "service ff00, characteristic ff01: "
                + "a cached value has no handlers: give a stored value or none"
        ),
        (
            characteristic { $0.length = .variable(max: 513) },
            "service ff00, characteristic ff01: the length 513 is not within 0 to 512"
        ),
        (
            characteristic { $0.length = .fixed(-1) },
            "service ff00, characteristic ff01: the length -1 is not within 0 to 512"
        ),
        (
            characteristic { $0.permissions = AttributePermissions(read: .encrypted, minimumKeySize: 17) },
            "service ff00, characteristic ff01: the key size 17 is not within 7 to 16"
        ),
        (
            characteristic { $0.permissions = AttributePermissions(read: nil) },
            "service ff00, characteristic ff01: the properties offer read, the permissions forbid it"
        ),
        (
            characteristic([.write, .notify]) { $0.permissions = AttributePermissions(read: .open) },
            "service ff00, characteristic ff01: the properties offer write, the permissions forbid it"
        ),
        (
            characteristic { $0.descriptors = [GATTDescriptor(0x2902), GATTDescriptor(0x2902)] },
            "service ff00, characteristic ff01: descriptor 2902 is given twice"
        ),
        (
            characteristic {
                $0.descriptors = [GATTDescriptor(0x2901, value: [1], length: .variable(max: 0))]
            },
            "service ff00, characteristic ff01, descriptor 2901: the value has 1 octets, at most 0 are allowed"
        ),
        (
            [GATTService(1, includes: [.uuid(2)])],
            "service 0001: there is no service 0002 to include"
        ),
        (
            [GATTService(1, includes: [.handle(9)]), GATTService(2, handle: 8)],
            "service 0001: no service to include begins at 0x0009"
        ),
        (
            [
                GATTService(1, includes: [.uuid(2)]), GATTService(2, includes: [.uuid(3)]),
                GATTService(3, includes: [.uuid(2)]),
            ], "service 0001: the service includes itself by way of the services it includes"
        ),
    ]
    for (services, text) in cases {
        #expect("\(text)") { try AttributeDatabase(services, generic: nil) } throws: { "\($0)" == text }
    }
}

@Test func errorPlaceIndexesCallersList() throws {
    let services = [
        GATTService(1),
        GATTService(2, characteristics: [readable, readable]),
        GATTService(
            3, characteristics: [readable, GATTCharacteristic(0xff02, properties: .read, handle: 1)]),
    ]
    do {
        _ = try AttributeDatabase(services)
        Issue.record("a handle that is taken was taken")
    } catch {
        #expect(error.place.service == 2)
        #expect(error.place.characteristic == 1)
        #expect(error.place.descriptor == nil)
    }
}

@Test func includesContainHandleRangeOfService() throws {
    let database = try AttributeDatabase(
        [
            GATTService(1, includes: [.uuid(2), .handle(0x20), .uuid(nordic)]),
            GATTService(2, characteristics: [readable]),
            GATTService(3, isPrimary: false, handle: 0x20, characteristics: [readable]),
            GATTService(nordic),
        ], generic: nil)
    let includes = try database.attributes.filter { $0.type == .include }.map {
        try IncludeDeclaration($0.value)
    }
    #expect(
        includes == [
            IncludeDeclaration(start: 5, end: 7, uuid: 2),
            IncludeDeclaration(start: 0x20, end: 0x22, uuid: 3),
            IncludeDeclaration(start: 0x23, end: 0x23),
        ])
}

@Test(arguments: [false, true]) func descriptorBuilderAcceptsConditionals(hasFormat: Bool) throws {
    let format = GATTDescriptor(0x2904, value: [4, 0, 0xad, 0x27, 1, 0, 0])
    let characteristic = GATTCharacteristic(0x2a19, properties: .read, value: .stored([80])) {
        GATTDescriptor.userDescription("Level")
        if hasFormat { format }
    }
    #expect(characteristic.descriptors.map(\.uuid) == (hasFormat ? [0x2901, 0x2904] : [0x2901]))
    #expect(characteristic.properties == .read)
    #expect(
        try handles([GATTService(0x180f, characteristics: [characteristic])]).count == (hasFormat ? 5 : 4))
}

@Test("no service gets a handle that another one reserves, and none follows one that ends at 0xffff")
func reservedHandlesAreNotGiven() throws {
    let database = try AttributeDatabase(
        [GATTService(0x180f, handle: 0x0002, endHandle: 0x000f), GATTService(0x1809)], generic: nil)
    #expect(database.attributes.map(\.handle) == [0x0002, 0x0010])
    #expect(database.records.map(\.endHandle) == [0x000f, 0x0010])
    func reason(_ services: [GATTService]) -> DatabaseError.Reason? {
        do throws(DatabaseError) {
            _ = try AttributeDatabase(services, generic: nil)
            return nil
        } catch {
            return error.reason
        }
    }
    let last = GATTService(0x180f, handle: 0x0001, endHandle: 0xffff)
    #expect(reason([last, GATTService(0x1809)]) == .outOfHandles)
    #expect(reason([last, GATTService(0x1809, handle: 0x0020)]) == .handleNotFree(0x0020))
    let value = GATTCharacteristic(0x2a19, properties: .read)
    #expect(
        reason([GATTService(0x180f, handle: 0x0001, endHandle: 0x0002, characteristics: [value])])
            == .endHandleTooLow(0x0002, last: 0x0003))

    var overlapping = [last, GATTService(0x1809, handle: 0x0020, endHandle: 0xffff)]
    for index in overlapping.indices { overlapping[index].allowsContradictions = true }
    let contradictory = try AttributeDatabase(overlapping, generic: nil)
    #expect(contradictory.attributes.map(\.groupEnd) == [0xffff, 0xffff])
    #expect(contradictory.records.map(\.entries.count) == [1, 1])
    overlapping[1].handle = 0x0001
    #expect(reason(overlapping) == .handleNotFree(0x0001))
}

@Test("a service added later begins after the end of all services")
func addedServiceFollowsEnds() throws {
    var server = GATTServer(
        try AttributeDatabase([GATTService(0x180f, handle: 0x0001, endHandle: 0x000f)], generic: nil),
        ServerOptions())
    #expect(try server.add([GATTService(0x1809, endHandle: 0x0020)]) == AttributeRange(0x0010, 0x0020))
    #expect(try server.add([GATTService(0x1810)]) == AttributeRange(0x0021, 0x0021))
}
