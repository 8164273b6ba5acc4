import Glibc

// Each group prints its lines; the end tells which allocated more than they may.
var meter = Meter()
print("work".padded(46), "fastest".leftPadded(10), "heap".leftPadded(8))
measureATT(&meter)
measureAdvertising(&meter)
measureServer(&meter)
measureDiscovery(&meter)
measureRoundTrips()
try await measureLinks()
if meter.failures > 0 {
    print("\(meter.failures) allocate more than they may")
    exit(1)
}
print("no work allocates more than it may")
