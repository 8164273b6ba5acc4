import BLECore
import HCI
import Testing

@testable import BLE

/// The packets that one consumer of a scan receives.
struct ScanFilterTests {
    /// Returns the indices of those `packets`, one each second, that the consumer receives.
    private func shown(
        _ repeats: ScanOptions.Repeats, _ packets: [AdvertisingReport],
        _ change: (inout ScanOptions) -> Void = { _ in }
    ) -> [Int] {
        var options = ScanOptions()
        options.repeats = repeats
        change(&options)
        var (table, filter) = (DeviceTable(), ScanFilter(options))
        return packets.enumerated().compactMap { second, packet in
            let sighting = table.merge(packet, at: .zero + .seconds(second))
            return filter.admits(sighting) ? second : nil
        }
    }

    private let a: [UInt8] = [2, 1, 6]
    private let b: [UInt8] = [2, 1, 4]
    private let name: [UInt8] = [3, 9, 0x4c, 0x65]
    private let response: AdvertisingEventType = [.legacy, .scannable, .scanResponse]

    /// Two devices, a scan response, a change and a change back.
    private var packets: [AdvertisingReport] {
        [
            report(1, a), report(2, a), report(1, a), report(1, response, name), report(1, a), report(1, b),
            report(2, a), report(1, a), report(2, b), report(1, response, name),
        ]
    }

    @Test("a legacy-only consumer receives only legacy advertising")
    func legacyOnlyFilter() {
        let packets = [report(1, a), report(2, [], set: 3, a), report(2, [.connectable], set: 3, b)]
        for (family, expected) in [(ScanOptions.Family.off, [0]), (.auto, [0, 1, 2]), (.on, [0, 1, 2])] {
            #expect(shown(.all, packets) { $0.extended = family } == expected)
        }
    }

    @Test func onceAdmitsFirstReport() { #expect(shown(.once, packets) == [0, 1]) }
    @Test func allAdmitsEveryReport() { #expect(shown(.all, packets) == Array(0...9)) }

    @Test("a change is judged by the advertisement with its scan response, not by the packet")
    func changesIncludeScanResponse() { #expect(shown(.changes, packets) == [0, 1, 3, 5, 7, 8]) }

    @Test("the interval starts with the last admitted report")
    func intervalStartsWithLastAdmittedReport() {
        #expect(shown(.every(.seconds(3)), packets) == [0, 1, 3, 6, 7])
        #expect(shown(.every(.seconds(100)), packets) == [0, 1])
    }

    @Test("each set is a sender of its own, and anonymous senders are distinguished by their data")
    func setsAreSeparateSenders() {
        let packets = [
            report(1, a), report(1, [], set: 0, a), report(1, [], set: 1, a), report(1, [], set: 0, a),
            report(nil, [], set: 0, a), report(nil, [], set: 0, b), report(nil, [], set: 0, a),
        ]
        #expect(shown(.once, packets) == [0, 1, 2, 4, 5])
        #expect(shown(.changes, packets) == [0, 1, 2, 4, 5])
        #expect(shown(.every(.seconds(2)), packets) == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test("different beacons of one address are counted separately")
    func beaconsOfOneAddressAreSeparate() {
        let (nearby, changed): ([UInt8], [UInt8]) = ([4, 0xff, 0x4c, 0, 2], [4, 0xff, 0x4c, 0, 3])
        let page: [UInt8] = [2, 1, 6, 4, 0x16, 0xaa, 0xfe, 0x10]
        let packets = [nearby, page, nearby, page, changed, page, nearby].map { report(1, .legacy, $0) }
        #expect(shown(.once, packets) == [0, 1])
        #expect(shown(.changes, packets) == [0, 1, 4, 6])
    }

    @Test("a filtered report does not count as a repeat: the next admitted one is new")
    func filteredReportDoesNotCount() {
        let packets = [
            report(1, rssi: -90, a), report(1, rssi: -60, a), report(1, rssi: 127, b), report(1, b),
        ]
        #expect(shown(.once, packets) { $0.minimumRSSI = -60 } == [1])
        #expect(shown(.changes, packets) { $0.minimumRSSI = -60 } == [1, 3])
    }

    @Test("a filtered change that is reverted is not reported as a change")
    func filteredChangeDoesNotCount() {
        let packets = [report(1, a), report(1, rssi: -90, b), report(1, a)]
        #expect(shown(.changes, packets) { $0.minimumRSSI = -60 } == [0])
    }

    /// Service lists of all widths, complete or not, 180f or its 128-bit form.
    @Test(arguments: [
        ("03020f18", true), ("03030f18", true), ("050209180f18", true), ("05040f180000", true),
        ("05050f180000", true), ("1106fb349b5f80000080001000000f180000", true),
        ("1107fb349b5f80000080001000000f180000", true),
        // A solicited service, service data, another service, a truncated list, no data.
        ("03140f18", false), ("04160f1801", false), ("03031018", false), ("02030f", false), ("", false),
    ])
    func filtersByService(_ hex: String, _ passes: Bool) throws {
        let payload = try #require([UInt8](hex: hex))
        #expect(shown(.all, [report(1, payload)]) { $0.services = [0x180f] } == (passes ? [0] : []))
        let long = BluetoothUUID(0x0000_180f_0000_1000_8000_0080_5f9b_34fb as UInt128)
        #expect(shown(.all, [report(1, payload)]) { $0.services = [0x1234, long] } == (passes ? [0] : []))
    }

    @Test("a bit of Apple's overflow area passes as the service that the table names")
    func overflowBitsPassAsServices() {
        func area(_ bit: Int) -> [UInt8] {
            let data = AppleOverflowArea(mask: 1 << UInt128(127 - bit)).manufacturerData.data
            return [UInt8(data.count + 3), 0xff, 0x4c, 0] + data
        }
        let packets = [report(1, area(13)), report(2, area(14)), report(3, [3, 3, 0x0f, 0x18])]
        let table: [Int: BluetoothUUID] = [13: 0x180f, 14: 0x1809, 500: 0x180f]
        #expect(
            shown(.all, packets) {
                $0.services = [0x180f]
                $0.overflowServices = table
            } == [0, 2])
        #expect(shown(.all, packets) { $0.services = [0x180f] } == [2])
        #expect(shown(.all, packets) { $0.overflowServices = table } == [0, 1, 2])
    }

    @Test("a filter finds devices that solicit a service")
    func filtersBySolicitedService() {
        let packets = [
            report(1, [3, 0x14, 0x0f, 0x18]), report(2, [3, 3, 0x0f, 0x18]), report(3, [3, 0x14, 9, 0x18]),
        ]
        #expect(shown(.all, packets) { $0.solicitedServices = [0x180f, 0x1800] } == [0])
        #expect(
            shown(.all, packets) {
                $0.solicitedServices = [0x1809]
                $0.services = [0x180f]
            } == [1, 2])
    }

    @Test("the company filter matches any complete manufacturer data structure")
    func filtersByCompany() {
        let cases: [([UInt8], Bool)] = [
            ([3, 0xff, 0x4c, 0], true), ([5, 0xff, 0x4c, 0, 1, 2], true), ([2, 0xff, 0x4c], false),
            ([3, 0xff, 1, 0], false), ([3, 0xff, 1, 0, 3, 0xff, 0x4c, 0], true), ([3, 9, 0x4c, 0], false),
        ]
        for (payload, passes) in cases {
            #expect(shown(.all, [report(1, payload)]) { $0.companies = [.apple] } == (passes ? [0] : []))
        }
        #expect(shown(.all, [report(1, [3, 0xff, 2, 0])]) { $0.companies = [.apple, 2] } == [0])
    }

    @Test("the filter needs one match of each kind")
    func requiresMatchOfEachKind() {
        let battery: [UInt8] = [3, 3, 0x0f, 0x18]
        let packets = [
            report(1, battery + name), report(2, battery), report(3, name), report(4, battery + name),
            report(5, battery), report(5, response, name),
        ]
        let wish: (inout ScanOptions) -> Void = {
            $0.services = [0x1809, 0x180f]
            $0.name = "l?"
            $0.addresses = [
                AddressFilter(1), AddressFilter(DeviceAddress(4, type: .public)),
                AddressFilter(DeviceAddress(5, type: .random)),
            ]
        }
        // Device 4 has another address type; device 5 has its name in the scan response.
        #expect(shown(.all, packets, wish) == [0, 5])
    }

    @Test("beyond the memory limit the least recent sender counts as new again")
    func forgottenSenderIsNew() {
        var options = ScanOptions()
        options.repeats = .once
        var (table, filter) = (DeviceTable(), ScanFilter(options))
        var isTold: (UInt64) -> Bool {
            { filter.admits(table.merge(report($0, []), at: .zero)) }
        }
        for address in 0..<4096 as Range<UInt64> { #expect(isTold(address)) }
        // Sender 0 is received again, so the next new one evicts sender 1.
        #expect(!isTold(0))
        #expect(isTold(5000))
        #expect(!isTold(0))
        #expect(isTold(1))
        #expect(isTold(2))
        #expect(!isTold(5000))
    }

    @Test("a name matches up to its first NUL, and without the spaces at its end")
    func paddedNamesMatch() {
        for name in ["Lamp", "Lamp\0", "Lamp\0\0\0garbage", "Lamp   ", "Lamp  \0\0", "lamp"] {
            #expect(Glob("Lamp").matches(name: name), "\(name.debugDescription)")
        }
        #expect(Glob("Lamp  ").matches(name: "Lamp  "))
        #expect(Glob("*garbage").matches(name: "Lamp\0garbage"))
        for name in ["", "\0Lamp", " Lamp", "Lamp 2", "Lampe"] {
            #expect(!Glob("Lamp").matches(name: name), "\(name.debugDescription)")
        }
    }
}
