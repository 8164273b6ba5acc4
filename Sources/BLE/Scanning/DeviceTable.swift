import BLECore
import HCI

/// What was heard of each device, so that an advertisement and its scan response are told as one. Bounded:
/// of more devices than `limit`, the one not heard of for longest goes.
struct DeviceTable {
    private struct Device {
        var advertisement: [UInt8] = []
        var scanResponse: [UInt8] = []
        var isConnectable = false
        var heard: UInt64 = 0
    }

    private let limit: Int
    private var devices: [DeviceAddress: Device] = [:]
    private var count: UInt64 = 0
    /// Devices that were forgotten for want of room.
    private(set) var evictions = 0

    init(limit: Int = 4096) { self.limit = limit }

    /// The number of devices remembered.
    var population: Int { devices.count }

    /// Takes a report; returns it with the sender's other fields.
    mutating func merge(_ report: AdvertisingReport, at now: Instant) -> Advertisement {
        guard let address = report.address else {
            return Advertisement(
                report: report, fields: AdvertisingData(report.data),
                isConnectable: report.type.contains(.connectable),
                received: now)
        }
        count &+= 1
        if devices[address] == nil { makeRoom() }
        var device = devices[address] ?? Device()
        device.heard = count
        if report.type.contains(.scanResponse) {
            device.scanResponse = report.data
        } else {
            device.advertisement = report.data
            device.isConnectable = report.type.contains(.connectable)
            // Another kind of packet that cannot be asked: what an earlier one answered is not its own.
            if !report.type.contains(.scannable) { device.scanResponse = [] }
        }
        devices[address] = device
        let fields =
            device.scanResponse.isEmpty
            ? device.advertisement : Self.significant(device.advertisement) + device.scanResponse
        return Advertisement(
            report: report, fields: AdvertisingData(fields), isConnectable: device.isConnectable,
            received: now)
    }

    /// The payload without the zeros that end it early, so that more can follow.
    private static func significant(_ payload: [UInt8]) -> ArraySlice<UInt8> {
        var end = 0
        while end < payload.count, payload[end] != 0 { end += 1 + Int(payload[end]) }
        return payload[..<min(end, payload.count)]
    }

    /// Forgets the older half of the devices at once, so that the search for them is rare.
    private mutating func makeRoom() {
        guard devices.count >= limit else { return }
        let order = devices.values.map(\.heard).sorted()
        let median = order[order.count / 2]
        let before = devices.count
        devices = devices.filter { $0.value.heard >= median }
        evictions += before - devices.count
    }
}
