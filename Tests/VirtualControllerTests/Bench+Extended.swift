import BLECore
import HCI
import Testing
import VirtualController

/// Helpers for tests of the extended family.
extension Bench {
    typealias SetParameters = LESetExtendedAdvertisingParameters

    /// Adds a controller with the extended commands, whose host enables all events.
    mutating func joinExtended(
        _ abilities: VirtualController.ExtendedAbilities = .init(),
        _ change: (inout VirtualController.Configuration) -> Void = { _ in }
    ) -> ID {
        var configuration = VirtualController.Configuration(extended: abilities)
        change(&configuration)
        let id = join(configuration)
        perform(LESetEventMask(mask: LEEventMask(rawValue: 0xff_ffff)), on: id)
        return id
    }

    static func set(_ number: UInt8) -> AdvertisingHandle { AdvertisingHandle(rawValue: number) }

    /// Returns parameters with the random address of the set and, by default, an interval of 100 ms.
    static func parameters(
        _ number: UInt8 = 0, _ properties: SetParameters.Properties, interval: UInt32 = 160,
        target: DeviceAddress? = nil, primary: PHY = .le1M, secondary: PHY = .le1M, sid: UInt8 = 0
    ) -> SetParameters {
        SetParameters(
            set: set(number), properties: properties, intervalMin: LongSlots(rawValue: interval),
            intervalMax: LongSlots(rawValue: interval), ownAddressType: .random,
            peer: target.map { HCIAddress($0) } ?? HCIAddress(0, type: .public), primaryPHY: primary,
            secondaryPHY: secondary, sid: sid)
    }

    /// Creates a set with data and with the random address of `id`.
    mutating func make(_ parameters: SetParameters, on id: ID, data: [UInt8] = [], response: [UInt8] = []) {
        _ = status(parameters, on: id)
        perform(LESetAdvertisingSetRandomAddress(set: parameters.set, address: address(id)), on: id)
        for fragment in Self.fragments(data, parameters.set) {
            perform(LESetExtendedAdvertisingData(fragment: fragment), on: id)
        }
        for fragment in Self.fragments(response, parameters.set) {
            perform(LESetExtendedScanResponseData(fragment: fragment), on: id)
        }
    }

    /// Returns the fragments in which a host sends the data.
    static func fragments(_ data: [UInt8], _ set: AdvertisingHandle) -> [AdvertisingDataFragment] {
        let starts = Array(stride(from: 0, to: data.count, by: 251))
        return starts.compactMap { start in
            let operation: AdvertisingDataFragment.Operation =
                if starts.count == 1 {
                    .complete
                } else if start == 0 {
                    .first
                } else {
                    start == starts.last ? .last : .intermediate
                }
            return try? AdvertisingDataFragment(
                set: set, operation: operation, Array(data[start..<min(start + 251, data.count)]))
        }
    }

    mutating func enable(
        _ number: UInt8 = 0, on id: ID, for centiseconds: UInt16 = 0, events: UInt8 = 0
    ) {
        perform(Self.enabling(number, for: centiseconds, events: events), on: id)
    }

    static func enabling(
        _ number: UInt8 = 0, for centiseconds: UInt16 = 0, events: UInt8 = 0
    ) -> LESetExtendedAdvertisingEnable {
        LESetExtendedAdvertisingEnable(
            enable: true,
            sets: [
                .init(set: set(number), duration: Centiseconds(rawValue: centiseconds), maxEvents: events)
            ])
    }

    /// Scans with the random address of `id`, for the whole scan interval.
    mutating func scanExtended(
        on id: ID, _ type: ScanType = .passive, phys: PHYSet = .le1M, filter: ScanFilterPolicy = [],
        duplicates: LESetExtendedScanEnable.DuplicateFilter = .off, for centiseconds: UInt16 = 0,
        every period: UInt16 = 0
    ) {
        let scanning = LESetExtendedScanParameters.Scanning(
            type: type, interval: Slots(rawValue: 16), window: Slots(rawValue: 16))
        perform(
            LESetExtendedScanParameters(
                ownAddressType: .random, filterPolicy: filter, phys: PerPHY(phys, scanning)), on: id)
        perform(
            LESetExtendedScanEnable(
                enable: true, filterDuplicates: duplicates, duration: Centiseconds(rawValue: centiseconds),
                period: ScanPeriod(rawValue: period)), on: id)
    }

    /// Returns the reports of `id` since the last call, and drops all other events.
    mutating func extendedReports(_ id: ID) -> [LEExtendedAdvertisingReports.Report] {
        events(id).flatMap { event -> [LEExtendedAdvertisingReports.Report] in
            if case .leMeta(.extendedAdvertisingReports(let reports)) = event { reports.reports } else { [] }
        }
    }

    /// Returns the ends of sets that `id` has reported since the last call, and drops all other events.
    mutating func terminations(_ id: ID) -> [LEAdvertisingSetTerminated] {
        events(id).compactMap {
            if case .leMeta(.advertisingSetTerminated(let event)) = $0 { event } else { nil }
        }
    }

    func extendedCreation(
        to peer: ID, phys: PHYSet = .le1M, filter: InitiatorFilterPolicy = .peer
    ) -> LEExtendedCreateConnection {
        LEExtendedCreateConnection(
            filterPolicy: filter, ownAddressType: .random, peer: HCIAddress(address(peer)),
            phys: PerPHY(
                phys,
                .init(
                    scanInterval: Slots(rawValue: 16), scanWindow: Slots(rawValue: 16),
                    parameters: Self.parameters)))
    }

    /// Returns two connected controllers with the extended commands and without pending events.
    static func extendedPair() throws -> (
        Bench, central: ID, peripheral: ID, ConnectionHandle, ConnectionHandle
    ) {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.make(parameters(0, .connectable), on: peripheral)
        bench.enable(on: peripheral)
        bench.perform(bench.extendedCreation(to: peripheral), on: central)
        bench.run(for: .milliseconds(300))
        let handles = [central, peripheral].compactMap { bench.air.controller($0)?.connections.first }
        _ = (bench.packets(central), bench.packets(peripheral))
        return (
            bench, central, peripheral, try #require(handles.first), try #require(handles.dropFirst().first)
        )
    }
}
