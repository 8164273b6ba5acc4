import BLECore
import HCI
import Testing

@testable import BLE

/// The radio's parameters when several scans share it.
struct ScanParametersTests {
    private func options(_ change: (inout ScanOptions) -> Void = { _ in }) -> ScanOptions {
        var options = ScanOptions()
        change(&options)
        return options
    }

    private func parameters(
        _ options: [ScanOptions], extended: Bool = true, list: AcceptList? = nil, connecting: Bool = false
    ) -> ScanParameters? {
        ScanParameters(
            options,
            under: ScanConditions(hasExtendedFamily: extended, acceptList: list, isConnecting: connecting))
    }

    private func timing(_ interval: UInt16, _ window: UInt16) -> ScanTiming {
        ScanTiming(Slots(rawValue: interval), Slots(rawValue: window))
    }

    private func list(_ capacity: Int, isForConnecting: Bool = false) -> AcceptList {
        var list = AcceptList()
        list.capacity = capacity
        list.isForConnecting = isForConnecting
        return list
    }

    @Test func withoutScanThereAreNoParameters() { #expect(parameters([]) == nil) }

    @Test("the highest duty cycle applies, and one active scan makes all active")
    func highestDutyCycleApplies() {
        let lazy = options {
            $0.preset = .lowPower
            $0.isPassive = true
        }
        #expect(parameters([lazy])?.oneMegabit == .lowPower)
        #expect(parameters([lazy])?.isActive == false)
        let own = options { $0.timing = timing(1600, 400) }
        #expect(parameters([lazy, own])?.oneMegabit == timing(1600, 400))
        #expect(parameters([lazy, own])?.isActive == true)
        #expect(parameters([lazy, own, options { $0.preset = .balanced }])?.oneMegabit == .balanced)
        // Of equal shares, that with the shorter interval applies.
        #expect(parameters([options { $0.timing = timing(960, 960) }, options()])?.oneMegabit == .lowLatency)
    }

    @Test("legacy commands are used only when the controller has no extended ones")
    func usesLegacyCommandsOnlyIfNecessary() {
        #expect(parameters([options()])?.family == .extended)
        #expect(parameters([options { $0.extended = .off }])?.family == .extended)
        #expect(parameters([options()], extended: false)?.family == .legacy)
    }

    @Test("each PHY has its own timing, and both share the available time")
    func physHaveSeparateTiming() {
        let coded = options {
            $0.phys = [.leCoded]
            $0.timing = timing(160, 16)
        }
        #expect(parameters([coded])?.coded == timing(160, 16))
        #expect(parameters([coded])?.oneMegabit == nil)
        #expect(parameters([coded, options { $0.preset = .balanced }])?.oneMegabit == .balanced)
        let both = options { $0.phys = [.le1M, .leCoded] }
        #expect(parameters([both])?.oneMegabit == timing(96, 48))
        #expect(parameters([both])?.coded == timing(96, 48))
        let uneven = options {
            $0.phys = [.le1M, .leCoded]
            $0.timing = timing(160, 40)
            $0.codedTiming = timing(320, 160)
        }
        #expect(parameters([uneven])?.oneMegabit == timing(160, 40))
        #expect(parameters([uneven])?.coded == timing(320, 160))
    }

    @Test("beside a connection attempt the scan has half of the time, in turns of 30 ms")
    func scanSharesTimeWithConnecting() {
        #expect(parameters([options()], connecting: true)?.oneMegabit == timing(96, 48))
        #expect(parameters([options { $0.preset = .lowPower }], connecting: true)?.oneMegabit == .lowPower)
        let both = options { $0.phys = [.le1M, .leCoded] }
        #expect(parameters([both], connecting: true)?.oneMegabit == timing(96, 24))
        let slow = options { $0.timing = timing(16_384, 16_384) }
        #expect(parameters([slow], connecting: true)?.oneMegabit == timing(96, 48))
    }

    @Test("the accept list is used when all scans name addresses and the list has room")
    func usesAcceptListIfAllScansNameAddresses() {
        let (one, two) = (DeviceAddress(1, type: .random), DeviceAddress(2, type: .public))
        let first = options { $0.addresses = [AddressFilter(one)] }
        let second = options { $0.addresses = [AddressFilter(two)] }
        #expect(parameters([first], list: list(1))?.acceptList == [one])
        #expect(parameters([first, second], list: list(2))?.acceptList == [one, two])
        #expect(parameters([first, second], list: list(1))?.acceptList == nil)
        #expect(parameters([first, options()], list: list(8))?.acceptList == nil)
        #expect(parameters([first], list: list(8, isForConnecting: true))?.acceptList == nil)
        #expect(parameters([first], list: AcceptList())?.acceptList == nil)
        // On kernel adapters the list belongs to the kernel.
        #expect(parameters([first], list: nil)?.acceptList == nil)
        // An address of either type takes two places.
        let untyped = options { $0.addresses = [AddressFilter(1)] }
        #expect(parameters([untyped], list: list(1))?.acceptList == nil)
        #expect(
            parameters([untyped], list: list(2))?.acceptList == [one, DeviceAddress(1, type: .public)])
    }
}

struct AcceptListTests {
    private let one = DeviceAddress(1, type: .random), two = DeviceAddress(2, type: .random)

    @Test("the accept list is cleared only to remove an entry or when its contents are unknown")
    func acceptListIsClearedOnlyWhenNeeded() {
        var list = AcceptList()
        #expect(list.begin([one]).additions == [one])
        // A change that did not complete leaves the contents unknown.
        var changes = list.begin([one])
        #expect(changes.clears && changes.additions == [one])
        list.settle([one])
        changes = list.begin([one])
        #expect(!changes.clears && changes.additions.isEmpty)
        list.settle([one])
        changes = list.begin([one, two])
        #expect(!changes.clears && changes.additions == [two])
        list.settle([one, two])
        changes = list.begin([two])
        #expect(changes.clears && changes.additions == [two])
        list.settle([two])
        list.wasReset(holding: 2)
        changes = list.begin([two])
        #expect(!changes.clears && changes.additions == [two])
    }
}
