import BLECore
import Testing

@testable import BLE

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let lock = DeviceAddress(0xc102_0304_0507, type: .random)
private let start = Instant(nanoseconds: 1_000_000_000)

struct KernelKeyLoadsTests {
    @Test("keys are loaded only when pending, and wait until no device is pairing")
    func pendingLoadWaitsForPairings() {
        var loads = KernelKeyLoads()
        #expect(loads.next(quiet: nil, at: start) == .none)
        loads.requestLoad(insteadOf: [lamp])
        let quiet = start + .seconds(30)
        #expect(loads.next(quiet: quiet, at: start) == .wait(until: quiet))
        #expect(loads.next(quiet: quiet, at: quiet) == .load(replacing: [lamp]))
        #expect(loads.next(quiet: nil, at: quiet) == .none)
    }

    @Test("a bond is untrusted until the kernel has loaded its keys")
    func bondIsUntrustedUntilKeysAreLoaded() {
        var loads = KernelKeyLoads()
        loads.requestLoad(insteadOf: [lamp])
        #expect(!loads.provesIdentity(of: lamp) && loads.provesIdentity(of: lock))
        #expect(loads.next(quiet: nil, at: start) == .load(replacing: [lamp]))
        #expect(!loads.provesIdentity(of: lamp))
        loads.ended(isDone: true, at: start)
        #expect(loads.provesIdentity(of: lamp))
        #expect(loads.next(quiet: nil, at: start) == .none)
    }

    @Test(
        "a change during a load causes another load, until which the bonds are untrusted",
        arguments: [[lamp], [lock], []])
    func changeDuringLoadCausesAnotherLoad(peers: [DeviceAddress]) {
        var loads = KernelKeyLoads()
        loads.requestLoad(insteadOf: [lamp])
        _ = loads.next(quiet: nil, at: start)
        loads.requestLoad(insteadOf: peers)
        #expect(loads.next(quiet: nil, at: start) == .none)
        loads.ended(isDone: true, at: start)
        #expect(!loads.provesIdentity(of: lamp))
        #expect(loads.next(quiet: nil, at: start) == .load(replacing: Set([lamp] + peers)))
        loads.ended(isDone: true, at: start)
        #expect(loads.provesIdentity(of: lamp) && loads.provesIdentity(of: lock))
    }

    @Test("a refused load is retried after 10 s, even when more changes arrive")
    func refusedLoadIsRetriedAfterTenSeconds() {
        var loads = KernelKeyLoads()
        loads.requestLoad(insteadOf: [lamp])
        _ = loads.next(quiet: nil, at: start)
        loads.ended(isDone: false, at: start)
        #expect(!loads.provesIdentity(of: lamp))
        let again = start + .seconds(10)
        loads.requestLoad(insteadOf: [lock])
        #expect(loads.next(quiet: nil, at: start) == .wait(until: again))
        #expect(loads.next(quiet: again + .seconds(1), at: again) == .wait(until: again + .seconds(1)))
        #expect(loads.next(quiet: nil, at: again) == .load(replacing: [lamp, lock]))
        loads.ended(isDone: true, at: again)
        #expect(loads.provesIdentity(of: lamp) && loads.provesIdentity(of: lock))
    }
}
