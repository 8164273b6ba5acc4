import BLECore
import Testing

@testable import BLE

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let lock = DeviceAddress(0xc102_0304_0507, type: .random)
private let start = Instant(nanoseconds: 1_000_000_000)

struct KernelKeyLoadsTests {
    @Test("nothing is loaded that is not owed, and what is owed waits for the devices that pair")
    func waits() {
        var loads = KernelKeyLoads()
        #expect(loads.next(quiet: nil, at: start) == .none)
        loads.owe(insteadOf: [lamp])
        let quiet = start + .seconds(30)
        #expect(loads.next(quiet: quiet, at: start) == .wait(until: quiet))
        #expect(loads.next(quiet: quiet, at: quiet) == .load(replacing: [lamp]))
        #expect(loads.next(quiet: nil, at: quiet) == .none)
    }

    @Test("a bond is distrusted until the kernel has taken its keys") func trust() {
        var loads = KernelKeyLoads()
        loads.owe(insteadOf: [lamp])
        #expect(!loads.proves(lamp) && loads.proves(lock))
        #expect(loads.next(quiet: nil, at: start) == .load(replacing: [lamp]))
        #expect(!loads.proves(lamp))
        loads.ended(isDone: true, at: start)
        #expect(loads.proves(lamp))
        #expect(loads.next(quiet: nil, at: start) == .none)
    }

    @Test(
        "what comes up while the kernel is given keys is loaded again, and is not trusted before",
        arguments: [[lamp], [lock], []])
    func meanwhile(peers: [DeviceAddress]) {
        var loads = KernelKeyLoads()
        loads.owe(insteadOf: [lamp])
        _ = loads.next(quiet: nil, at: start)
        loads.owe(insteadOf: peers)
        #expect(loads.next(quiet: nil, at: start) == .none)
        loads.ended(isDone: true, at: start)
        #expect(!loads.proves(lamp))
        #expect(loads.next(quiet: nil, at: start) == .load(replacing: Set([lamp] + peers)))
        loads.ended(isDone: true, at: start)
        #expect(loads.proves(lamp) && loads.proves(lock))
    }

    @Test("a kernel that takes no keys is asked again after 10 s, and not sooner by what comes up")
    func refused() {
        var loads = KernelKeyLoads()
        loads.owe(insteadOf: [lamp])
        _ = loads.next(quiet: nil, at: start)
        loads.ended(isDone: false, at: start)
        #expect(!loads.proves(lamp))
        let again = start + .seconds(10)
        loads.owe(insteadOf: [lock])
        #expect(loads.next(quiet: nil, at: start) == .wait(until: again))
        #expect(loads.next(quiet: again + .seconds(1), at: again) == .wait(until: again + .seconds(1)))
        #expect(loads.next(quiet: nil, at: again) == .load(replacing: [lamp, lock]))
        loads.ended(isDone: true, at: again)
        #expect(loads.proves(lamp) && loads.proves(lock))
    }
}
