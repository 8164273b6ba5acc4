import BLECore
import HCI
import Testing
import VirtualController

@Suite struct AcceptListTests {
    let device = HCIAddress(0xc000_0000_0077, type: .random)

    @Test func acceptListIsBounded() {
        var configuration = VirtualController.Configuration()
        configuration.acceptListSize = 2
        var bench = Bench()
        let id = bench.join(configuration)
        func add(_ value: UInt64, _ type: HCIAddressType = .random) -> HCIStatus {
            bench.status(LEAddDeviceToFilterAcceptList(device: HCIAddress(value, type: type)), on: id)
        }
        #expect(add(1) == .success)
        #expect(add(1) == .success, "again is no second entry")
        #expect(add(1, .public) == .success, "another type is another device")
        #expect(add(2) == .memoryCapacityExceeded)
        #expect(add(1) == .success)
        bench.perform(LERemoveDeviceFromFilterAcceptList(device: HCIAddress(1, type: .public)), on: id)
        #expect(add(2) == .success)
        bench.perform(LEClearFilterAcceptList(), on: id)
        #expect(add(3) == .success && add(4) == .success)
        #expect(add(5, .anonymous) == .invalidCommandParameters)
        #expect(
            bench.status(LERemoveDeviceFromFilterAcceptList(device: HCIAddress(5, type: .unresolved)), on: id)
                == .invalidCommandParameters)
    }

    @Test func acceptListCannotChangeWhileInUse() {
        func statuses(_ bench: inout Bench, _ id: ID) -> [HCIStatus] {
            [
                bench.status(LEAddDeviceToFilterAcceptList(device: device), on: id),
                bench.status(LERemoveDeviceFromFilterAcceptList(device: device), on: id),
                bench.status(LEClearFilterAcceptList(), on: id),
            ]
        }
        let refused = [HCIStatus](repeating: .commandDisallowed, count: 3)
        let allowed = [HCIStatus](repeating: .success, count: 3)
        var bench = Bench()
        let (id, other) = (bench.join(), bench.join())

        bench.advertise(on: id, .nonconnectable)
        bench.scan(on: id)
        bench.perform(bench.creation(to: other), on: id)
        #expect(statuses(&bench, id) == allowed, "nothing filters by it")
        bench.perform(LECreateConnectionCancel(), on: id)

        bench.perform(bench.creation(to: other, filter: .acceptList), on: id)
        #expect(statuses(&bench, id) == refused)
        bench.perform(LECreateConnectionCancel(), on: id)

        bench.perform(LESetScanEnable(enable: false), on: id)
        bench.scan(on: id, filter: .acceptListOnly)
        #expect(statuses(&bench, id) == refused)
        bench.perform(LESetScanEnable(enable: false), on: id)

        bench.perform(LESetAdvertisingEnable(enable: false), on: id)
        bench.advertise(on: id, filter: .filterScanRequests)
        #expect(statuses(&bench, id) == refused)
        bench.perform(LESetAdvertisingEnable(enable: false), on: id)
        #expect(statuses(&bench, id) == allowed)
    }
}
