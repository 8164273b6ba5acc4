import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

/// Databases of real devices that violate the specification, of which discovery takes what can be understood.
struct FaultyDatabaseTests {
    private func fault(
        _ handle: AttributeHandle, _ uuid: BluetoothUUID? = nil, _ misbehavior: Misbehavior
    ) -> DatabaseFault {
        DatabaseFault(handle, uuid, .misbehavior(misbehavior))
    }

    @Test(
        "values in the next service, and after the next declaration, leave the other characteristics as they are"
    )
    func valuesElsewhere() throws {
        let database = try run(
            DiscoverDatabase(), mtu: 517,
            [
                ("10 0100 ffff 0028", "11 06 1000 1400 0018 1500 1d00 0a18 2000 2300 0f18"),
                ("10 2400 ffff 0028", "01 10 2400 0a"), ("10 0100 ffff 0128", "01 10 0100 0a"),
                ("08 1000 2300 0228", "01 08 1000 0a"),
                (
                    "08 1000 2300 0328",
                    "09 07 1100 02 1600 002a 1300 02 1800 012a 1700 02 1d00 292a 1900 02 1a00 242a"
                        + "1b00 02 1c00 262a 2100 12 2200 192a"
                ),
                ("08 2200 2300 0328", "01 08 2200 0a"),
                ("04 1d00 2300", "05 01 1d00 292a 2000 0028 2100 0328 2200 192a 2300 0229"),
            ])
        #expect(
            database.faults == [
                fault(0x0011, 0x2a00, .badValueHandle(0x0011, value: 0x0016)),
                fault(0x0013, 0x2a01, .badValueHandle(0x0013, value: 0x0018)),
                fault(0x0017, 0x2a29, .badValueHandle(0x0017, value: 0x001d)),
            ])
        #expect(database.services.map(\.characteristics.count) == [2, 3, 1])
        let level = try #require(database.characteristics(0x2a19).first)
        #expect(level.valueHandle == 0x0022 && level.descriptors.map(\.handle) == [0x0023])
        #expect(!database.isFaulty(level))
        let name = try #require(database.characteristics(0x2a29).first)
        #expect(name.valueHandle == 0x001d && database.isFaulty(name))
        #expect(database.characteristics(0x2a26).first?.descriptors == [])
        #expect(
            "\(database.faults[0])"
                == "2a00 at 0x0011: the characteristic at 0x0011 cannot have its value at 0x0016")
    }

    @Test("a service that is both primary and secondary is one service")
    func serviceOfBothKinds() throws {
        let database = try run(
            DiscoverDatabase(),
            [
                ("10 0100 ffff 0028", "11 06 0100 ffff 0018"),
                ("10 0100 ffff 0128", "11 06 0100 ffff 0018"),
                ("08 0100 ffff 0228", "01 08 0100 0a"), ("08 0100 ffff 0328", "01 08 0100 0a"),
            ])
        #expect(database.services == [RemoteService(uuid: 0x1800, handle: 0x0001, endHandle: 0xffff)])
        #expect(database.faults == [fault(0x0001, 0x1800, .badGroup(0x0001, end: 0xffff))])
    }

    @Test("services without a valid end extend to the next one")
    func endsOfServices() throws {
        let zero = try run(
            DiscoverDatabase(),
            [
                ("10 0100 ffff 0028", "11 06 0100 0500 0018 1000 0000 0f18"),
                ("10 1100 ffff 0028", "01 10 1100 0a"), ("10 0100 ffff 0128", "01 10 0100 0a"),
                ("08 0100 ffff 0228", "01 08 0100 0a"), ("08 0100 ffff 0328", "01 08 0100 0a"),
            ])
        #expect(
            zero.services.map(\.range) == [AttributeRange(0x0001, 0x0005), AttributeRange(0x0010, 0xffff)])
        #expect(zero.faults == [fault(0x0010, nil, .badGroup(0x0010, end: 0x0000))])
        let overlapping = try run(
            DiscoverDatabase(),
            [
                ("10 0100 ffff 0028", "11 06 0100 ffff 0018 1000 ffff 0f18 2000 ffff 0a18"),
                ("10 0100 ffff 0128", "01 10 0100 0a"), ("08 0100 ffff 0228", "01 08 0100 0a"),
                ("08 0100 ffff 0328", "01 08 0100 0a"),
            ])
        #expect(
            overlapping.services.map(\.range) == [
                AttributeRange(0x0001, 0x000f), AttributeRange(0x0010, 0x001f),
                AttributeRange(0x0020, 0xffff),
            ])
        #expect(
            overlapping.faults == [
                fault(0x0001, 0x1800, .badGroup(0x0001, end: 0xffff)),
                fault(0x0010, 0x180f, .badGroup(0x0010, end: 0xffff)),
            ])
    }

    @Test("services in falling order are all found")
    func servicesInFallingOrder() throws {
        let database = try run(
            DiscoverDatabase(), mtu: 517,
            [
                ("10 0100 ffff 0028", "11 06 2000 2400 0018 1000 1300 0f18"),
                ("10 2500 ffff 0028", "01 10 2500 0a"), ("10 0100 ffff 0128", "01 10 0100 0a"),
                ("08 1000 2400 0228", "01 08 1000 0a"),
                (
                    "08 1000 2400 0328",
                    "09 07 1100 12 1200 192a 2100 02 2200 002a 2300 02 2400 012a"
                ),
                ("08 2400 2400 0328", "01 08 2400 0a"), ("04 1300 1300", "05 01 1300 0229"),
            ])
        #expect(
            database.services.map(\.range) == [
                AttributeRange(0x0010, 0x0013), AttributeRange(0x0020, 0x0024),
            ])
        #expect(database.characteristics(0x2a19).first?.descriptors.map(\.uuid) == [0x2902])
        #expect(
            database.faults == [
                fault(0x0010, nil, .unexpectedHandle(0x0010, expected: AttributeRange(0x0025, 0xffff)))
            ])
        // Before the range of the request, no service can be new.
        let backward = try run(
            DiscoverDatabase(),
            [
                ("10 0100 ffff 0028", "11 06 2000 2400 0018"),
                ("10 2500 ffff 0028", "11 06 1000 1300 0f18"), ("10 0100 ffff 0128", "01 10 0100 0a"),
                ("08 2000 2400 0228", "01 08 2000 0a"), ("08 2000 2400 0328", "01 08 2000 0a"),
            ])
        #expect(backward.services.map(\.handle) == [0x0020] && backward.faults.count == 1)
    }

    @Test("a list counts whatever error ends it")
    func reservedErrorEndsLists() throws {
        let database = try run(
            DiscoverDatabase(),
            [
                ("10 0100 ffff 0028", "11 06 0100 0400 0f18"), ("10 0500 ffff 0028", "01 10 0000 00"),
                ("10 0100 ffff 0128", "01 10 0000 00"), ("08 0100 0400 0228", "01 08 0000 00"),
                ("08 0100 0400 0328", "09 07 0200 02 0300 192a"), ("08 0300 0400 0328", "01 08 0000 00"),
                ("04 0400 0400", "05 01 0400 0229"),
            ])
        #expect(database.characteristics(0x2a19).first?.descriptors.map(\.uuid) == [0x2902])
        #expect(database.faults.count == 4)
        #expect(
            try failure(of: DiscoverDatabase(), [("10 0100 ffff 0028", "01 10 0000 00")])
                == .att(ATTErrorResponse(.readByGroupTypeRequest, .none, ATTErrorCode(0x00))))
    }

    @Test("a range of descriptors that ends after the last attribute is shortened")
    func rangeAfterLastAttribute() throws {
        let service: Dialogue = [
            ("10 0100 ffff 0028", "11 06 1000 1800 1218"), ("10 1900 ffff 0028", "01 10 1900 0a"),
            ("10 0100 ffff 0128", "01 10 0100 0a"), ("08 1000 1800 0228", "01 08 1000 0a"),
            ("08 1000 1800 0328", "09 07 1100 12 1200 4d2a"), ("08 1200 1800 0328", "01 08 1200 0a"),
        ]
        let database = try run(
            DiscoverDatabase(),
            service + [
                ("04 1300 1800", "01 04 1300 01"), ("04 1300 1700", "05 01 1300 0229"),
                ("04 1400 1700", "01 04 1400 0a"),
            ])
        #expect(database.faults.isEmpty)
        #expect(database.characteristics(0x2a4d).first?.descriptors.map(\.uuid) == [0x2902])
        let refused = try run(
            DiscoverDatabase(),
            service + (0..<4).map { (ask: "04 1300 1\(8 - $0)00", answer: "01 04 1300 01") })
        let error = ATTErrorResponse(.findInformationRequest, 0x0013, .invalidHandle)
        #expect(refused.faults == [DatabaseFault(0x0013, nil, .refused(error))])
        #expect(refused.characteristics(0x2a4d).first?.refusedDescriptors == error)
    }

    @Test("a service that requires more security is left out where the link cannot have it")
    func protectedService() throws {
        let services: Dialogue = [
            ("10 0100 ffff 0028", "11 06 0100 0300 0018 0400 0600 0a18 0700 0900 0f18"),
            ("10 0a00 ffff 0028", "01 10 0a00 0a"), ("10 0100 ffff 0128", "01 10 0100 0a"),
            ("08 0100 0900 0228", "01 08 0100 0a"), ("08 0100 0900 0328", "09 07 0200 02 0300 002a"),
            ("08 0300 0900 0328", "01 08 0500 05"),
        ]
        #expect(
            try failure(of: DiscoverDatabase(), services)
                == .att(ATTErrorResponse(.readByTypeRequest, 0x0005, .insufficientAuthentication)))
        let database = try run(
            DiscoverDatabase(atAnySecurity: true),
            services + [
                ("08 0700 0900 0328", "09 07 0800 02 0900 192a"),
                ("08 0900 0900 0328", "01 08 0900 0a"),
            ])
        #expect(database.services.map(\.characteristics.count) == [1, 0, 1])
        #expect(database.faults.map(\.handle) == [0x0005])
    }

    @Test("the refusal of some descriptors leaves those that were shown, and the other characteristics")
    func refusedDescriptors() throws {
        // The refusals are at 0x0005, after the configuration, and at the declaration at 0x0006.
        let database = try run(
            DiscoverDatabase(), mtu: 517,
            [
                ("10 0100 ffff 0028", "11 06 0100 0900 0f18"), ("10 0a00 ffff 0028", "01 10 0a00 0a"),
                ("10 0100 ffff 0128", "01 10 0100 0a"), ("08 0100 0900 0228", "01 08 0100 0a"),
                (
                    "08 0100 0900 0328",
                    "09 07 0200 12 0300 192a 0600 12 0700 1a2a"
                ),
                ("08 0700 0900 0328", "01 08 0700 0a"),
                ("04 0400 0900", "05 01 0400 0229"), ("04 0500 0900", "01 04 0500 0e"),
                ("04 0800 0900", "05 01 0800 0229 0900 0129"),
            ])
        let all = database.services.flatMap(\.characteristics)
        #expect(all.map { $0.descriptors.map(\.handle) } == [[0x0004], [0x0008, 0x0009]])
        #expect(all.map { $0.refusedDescriptors?.code } == [.unlikelyError, nil])
        #expect(database.faults.map(\.handle) == [0x0005])
    }

    @Test("of one service, only what is certain is found")
    func partialDiscoveryIsStrict() throws {
        #expect(
            try failure(
                of: DiscoverDatabase(service: 0x180f), [("06 0100 ffff 0028 0f18", "07 1000 0000")])
                == .misbehaving(.findByTypeValueRequest, .badGroup(0x0010, end: 0x0000)))
    }

    @Test("the number of faults is bounded")
    func faultsAreBounded() throws {
        var steps: Dialogue = []
        // Each service ends at the next one.
        var first: UInt16 = 1
        for _ in 0..<4 {
            let list = (first..<first + 80).map {
                "\(AttributeHandle($0).wire)\(AttributeHandle($0 + 1).wire) 0f18"
            }
            steps.append(("10\(AttributeHandle(first).wire) ffff 0028", "11 06" + list.joined()))
            first += 81
        }
        steps.append(("10\(AttributeHandle(first).wire) ffff 0028", "01 10\(AttributeHandle(first).wire) 0a"))
        steps.append(("10 0100 ffff 0128", "01 10 0100 0a"))
        let error = try failure(of: DiscoverDatabase(), mtu: 517, steps)
        guard case .misbehaving(.readByGroupTypeRequest, .badGroup)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("attributes outside of the request end a walk, and are no endless loop")
    func attributesElsewhere() throws {
        let database = try run(
            DiscoverDatabase(),
            [
                ("10 0100 ffff 0028", "11 06 0100 0900 0f18"), ("10 0a00 ffff 0028", "11 06 0100 0900 0f18"),
                ("10 0100 ffff 0128", "01 10 0100 0a"), ("08 0100 0900 0228", "01 08 0100 0a"),
                ("08 0100 0900 0328", "09 07 0200 02 0300 192a 2000 02 2100 002a"),
                ("08 0300 0900 0328", "09 07 0200 02 0300 192a"), ("04 0400 0900", "01 04 0400 0a"),
            ])
        #expect(database.services.map(\.characteristics.count) == [1])
        #expect(
            database.faults == [
                fault(0x0001, nil, .unexpectedHandle(0x0001, expected: AttributeRange(0x000a, 0xffff))),
                fault(0x0020, nil, .unexpectedHandle(0x0020, expected: AttributeRange(0x0003, 0x0009))),
                fault(0x0002, nil, .unexpectedHandle(0x0002, expected: AttributeRange(0x0003, 0x0009))),
            ])
    }
}
