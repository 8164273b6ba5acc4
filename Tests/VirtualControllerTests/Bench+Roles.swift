import BLECore
import HCI
import Testing
import VirtualController

/// Helpers for most tests.
extension Bench {
    /// Advertises with the random address of `id`, by default every 100 ms.
    mutating func advertise(
        on id: ID, _ type: AdvertisingType = .connectable, data: [UInt8] = [2, 1, 6],
        scanResponse: [UInt8] = [2, 0x0a, 0], at target: DeviceAddress? = nil,
        filter: AdvertisingFilterPolicy = [], interval: UInt16 = 160
    ) {
        perform(
            LESetAdvertisingParameters(
                intervalMin: Slots(rawValue: interval), intervalMax: Slots(rawValue: interval), type: type,
                ownAddressType: .random, peer: HCIAddress(target ?? DeviceAddress(0, type: .random)),
                filterPolicy: filter), on: id)
        if let data = try? LegacyAdvertisingData(data),
            let response = try? LegacyAdvertisingData(scanResponse)
        {
            perform(LESetAdvertisingData(data: data), on: id)
            perform(LESetScanResponseData(data: response), on: id)
        }
        perform(LESetAdvertisingEnable(enable: true), on: id)
    }

    /// Scans with the random address of `id`.
    mutating func scan(
        on id: ID, _ type: ScanType = .passive, interval: UInt16 = 16, window: UInt16 = 16,
        filter: ScanFilterPolicy = [], filterDuplicates: HCIFlag = false
    ) {
        perform(
            LESetScanParameters(
                type: type, interval: Slots(rawValue: interval), window: Slots(rawValue: window),
                ownAddressType: .random, filterPolicy: filter), on: id)
        perform(LESetScanEnable(enable: true, filterDuplicates: filterDuplicates), on: id)
    }

    /// Returns the reports of `id` since the last call, and drops all other events.
    mutating func reports(_ id: ID) -> [LEAdvertisingReports.Report] {
        events(id).flatMap { event -> [LEAdvertisingReports.Report] in
            if case .leMeta(.advertisingReports(let reports)) = event { reports.reports } else { [] }
        }
    }

    static let parameters = LEConnectionParameters(
        intervalMin: ConnectionInterval(rawValue: 24), intervalMax: ConnectionInterval(rawValue: 40),
        latency: 0, supervisionTimeout: Centiseconds(rawValue: 42))

    func creation(
        to peer: ID, filter: InitiatorFilterPolicy = .peer, parameters: LEConnectionParameters = parameters
    ) -> LECreateConnection {
        LECreateConnection(
            scanInterval: Slots(rawValue: 16), scanWindow: Slots(rawValue: 16), filterPolicy: filter,
            peer: HCIAddress(address(peer)), ownAddressType: .random, parameters: parameters)
    }

    /// Returns the connections that `id` has reported since the last call, and drops all other events.
    mutating func connections(_ id: ID) -> [LEConnectionComplete] {
        events(id).compactMap {
            if case .leMeta(.connectionComplete(let event)) = $0 { event } else { nil }
        }
    }

    /// Connects two controllers, and drops all events about the connection.
    mutating func connect(
        _ central: ID, to peripheral: ID, parameters: LEConnectionParameters = parameters
    ) throws -> (central: ConnectionHandle, peripheral: ConnectionHandle) {
        advertise(on: peripheral)
        perform(creation(to: peripheral, parameters: parameters), on: central)
        run(for: .milliseconds(200))
        let (one, other) = (connections(central), connections(peripheral))
        return (try #require(one.first).connection, try #require(other.first).connection)
    }

    /// Returns two connected controllers, and the connection handle at each end.
    static func pair(
        _ configuration: VirtualController.Configuration = .init(), seed: UInt64 = 1
    ) throws -> (bench: Bench, central: ID, peripheral: ID, ConnectionHandle, ConnectionHandle) {
        var bench = Bench(seed: seed)
        let (central, peripheral) = (bench.join(configuration), bench.join(configuration))
        let handles = try bench.connect(central, to: peripheral)
        return (bench, central, peripheral, handles.central, handles.peripheral)
    }
}
