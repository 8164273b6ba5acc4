import Glibc

// Each group prints its lines, and the end prints how many pieces of work allocated more than they may. Names
// on the command line choose among the groups.
let chosen = Set(CommandLine.arguments.dropFirst())
let groups = ["machines", "round-trips", "links", "reports", "first-read"]
guard chosen.isSubset(of: groups) else {
    print("the groups are \(groups.joined(separator: ", "))")
    exit(2)
}

func runs(_ group: String) -> Bool { chosen.isEmpty || chosen.contains(group) }

var meter = Meter()
if runs("machines") {
    print("work".padded(46), "fastest".leftPadded(10), "heap".leftPadded(8))
    measureATT(&meter)
    measureAdvertising(&meter)
    measureServer(&meter)
    measureDiscovery(&meter)
}
if runs("round-trips") { measureRoundTrips() }
if runs("links") { try await measureLinks() }
if runs("reports") { try await measureReports() }
if runs("first-read") { try await measureFirstRead() }
if meter.failures > 0 {
    print("\(meter.failures) allocate more than they may")
    exit(1)
}
if runs("machines") { print("no work allocates more than it may") }
