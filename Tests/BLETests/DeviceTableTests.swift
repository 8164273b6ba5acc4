import BLECore
import HCI
import Testing

@testable import BLE

/// Returns the report of a connectable packet.
func report(_ address: UInt64?, rssi: Int8 = -50, _ data: [UInt8]) -> AdvertisingReport {
    report(address, [.legacy, .connectable, .scannable], rssi: rssi, data)
}

/// Returns the report of a packet.
func report(
    _ address: UInt64?, _ type: AdvertisingEventType, set: UInt8 = 0xff, rssi: Int8 = -50, _ data: [UInt8]
) -> AdvertisingReport {
    let sender = address.map { HCIAddress($0, type: .random) } ?? HCIAddress(0, type: .anonymous)
    return AdvertisingReport(
        LEExtendedAdvertisingReports.Report(type: type, address: sender, sid: set, rssi: rssi, data: data))
}

struct DeviceTableTests {
    private let flags: [UInt8] = [2, 1, 6]
    private let name: [UInt8] = [3, 9, 0x4c, 0x65]
    private let response: AdvertisingEventType = [.legacy, .scannable, .scanResponse]

    private func fields(_ table: inout DeviceTable, _ report: AdvertisingReport) -> [UInt8] {
        table.merge(report, at: .zero).advertisement.fields.bytes
    }

    @Test("an advertisement and its scan response are merged, whichever repeats")
    func mergesScanResponse() {
        var table = DeviceTable()
        #expect(fields(&table, report(1, flags)) == flags)
        let both = table.merge(report(1, response, name), at: .zero)
        #expect(both.advertisement.fields.bytes == flags + name)
        #expect(both.advertisement.isConnectable)
        #expect(both.advertisement.report.data == name)
        #expect(fields(&table, report(1, flags)) == flags + name)
        #expect(fields(&table, report(1, [2, 1, 4])) == [2, 1, 4] + name)
        // The zeros after an early end are not a field.
        #expect(fields(&table, report(1, flags + [0, 0])) == flags + name)
    }

    @Test(
        "a nonscannable beacon at the same address does not take over the scan response"
    )
    func unscannableAdvertisementHasNoScanResponse() {
        var table = DeviceTable()
        _ = table.merge(report(1, flags), at: .zero)
        _ = table.merge(report(1, response, name), at: .zero)
        let beacon = table.merge(report(1, .legacy, flags), at: .zero)
        #expect(beacon.advertisement.fields.bytes == flags)
        #expect(!beacon.advertisement.isConnectable)
        #expect(fields(&table, report(1, flags)) == flags + name)
        #expect(table.statistics.devices == 2)
    }

    @Test("the sets of one address are separate devices, and so is its legacy advertising")
    func setsAreSeparate() {
        var table = DeviceTable()
        #expect(fields(&table, report(1, flags)) == flags)
        #expect(fields(&table, report(1, .scannable, set: 1, [])) == [])
        #expect(fields(&table, report(1, [.scannable, .scanResponse], set: 1, name)) == name)
        #expect(fields(&table, report(1, [], set: 2, [2, 1, 4])) == [2, 1, 4])
        #expect(fields(&table, report(1, flags)) == flags)
        #expect(fields(&table, report(1, .scannable, set: 1, [])) == name)
        #expect(table.statistics.devices == 3)
    }

    @Test("a scan response that names no set belongs to the only set")
    func responseWithoutSetBelongsToOnlySet() {
        var table = DeviceTable()
        _ = table.merge(report(1, .scannable, set: 3, []), at: .zero)
        _ = table.merge(report(1, [.scannable, .scanResponse], name), at: .zero)
        #expect(fields(&table, report(1, .scannable, set: 3, [])) == name)
        // With two sets the set of a response is unknown.
        _ = table.merge(report(1, .scannable, set: 4, []), at: .zero)
        _ = table.merge(report(1, [.scannable, .scanResponse], flags), at: .zero)
        #expect(fields(&table, report(1, .scannable, set: 3, [])) == name)
        #expect(fields(&table, report(1, .scannable, set: 4, [])) == [])
    }

    @Test("another address is another device and takes over no data")
    func newAddressIsNewDevice() {
        var table = DeviceTable()
        _ = table.merge(report(1, flags), at: .zero)
        _ = table.merge(report(1, response, name), at: .zero)
        #expect(fields(&table, report(2, flags)) == flags)
    }

    @Test("anonymous packets are distinguished by their set and data, and not remembered")
    func anonymousPacketsAreNotRemembered() {
        var table = DeviceTable()
        let one = table.merge(report(nil, [], set: 1, flags), at: .zero)
        #expect(one.advertisement.address == nil && one.advertisement.fields.bytes == flags)
        #expect(table.merge(report(nil, [], set: 1, flags), at: .zero).sender == one.sender)
        #expect(table.merge(report(nil, [], set: 1, name), at: .zero).sender != one.sender)
        #expect(table.merge(report(nil, [], set: 2, flags), at: .zero).sender != one.sender)
        #expect(table.statistics.devices == 0)
    }

    @Test("a fingerprint changes only when the fields change")
    func fingerprintFollowsFields() {
        var table = DeviceTable()
        let first = table.merge(report(1, flags), at: .zero).fingerprint
        #expect(table.merge(report(1, rssi: -90, flags), at: .zero).fingerprint == first)
        let changed = table.merge(report(1, [2, 1, 4]), at: .zero).fingerprint
        #expect(changed != first)
        #expect(table.merge(report(1, flags), at: .zero).fingerprint == first)
    }

    @Test("of a million devices 4,096 are remembered and the others counted as evictions")
    func remembersAtMost4096Devices() {
        var table = DeviceTable()
        for address in 0..<1_000_000 as Range<UInt64> { _ = table.merge(report(address, flags), at: .zero) }
        #expect(
            table.statistics == ScanStatistics(reports: 1_000_000, devices: 4096, evictions: 995_904))
        // The last 4,096 devices are there with their data; the one before them is not.
        #expect(fields(&table, report(999_999, response, name)) == flags + name)
        #expect(fields(&table, report(995_904, response, name)) == flags + name)
        #expect(fields(&table, report(995_903, response, name)) == name)
    }

    @Test("the octets of long payloads that are remembered have a limit as well")
    func rememberedOctetsHaveLimit() {
        var table = DeviceTable(limit: 100, octetLimit: 10_000)
        let long = [UInt8](repeating: 1, count: 1650)
        for address in 1...10 as ClosedRange<UInt64> {
            _ = table.merge(report(address, [], set: 0, long), at: .zero)
        }
        // Each payload is kept as received and as reported. Both use the same memory and are counted separately.
        #expect(table.statistics == ScanStatistics(reports: 10, devices: 3, evictions: 7))
    }
}
