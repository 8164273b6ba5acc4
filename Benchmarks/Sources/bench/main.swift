import Glibc

// Each group prints its lines. At the end the program prints how many pieces of work exceeded their
// allocation limit, and which figures exceed their aims by more than `Figure.margin`; if there are any of
// these, the exit status is 1. Names on the command line select the groups to run.
let chosen = Set(CommandLine.arguments.dropFirst())
let groups = ["machines", "round-trips", "links", "reports", "first-read"]
guard chosen.isSubset(of: groups) else {
    print("the groups are \(groups.joined(separator: ", "))")
    exit(2)
}

func runs(_ group: String) -> Bool { chosen.isEmpty || chosen.contains(group) }

var meter = Meter()
var figures: [Figure] = []
if runs("machines") {
    print("work".padded(46), "fastest".leftPadded(10), "heap".leftPadded(8))
    measureATT(&meter)
    measureAdvertising(&meter)
    measureServer(&meter)
    measureDiscovery(&meter)
}
if runs("round-trips") { figures += try await measureRoundTrips() }
if runs("links") { figures.append(try await measureLinks()) }
if runs("reports") { figures += try await measureReports() }
if runs("first-read") { try await measureFirstRead() }
let missed = figures.filter(\.isMissed)
for figure in missed {
    print(
        "\(figure.what): \(figure.rounded) \(figure.unit), aim: \(figure.aim), at most \(figure.aim * Figure.margin)"
    )
}
if meter.failures > 0 {
    print("\(meter.failures) allocate more than they may")
} else if runs("machines") {
    print("no work allocates more than it may")
}
exit(meter.failures > 0 || !missed.isEmpty ? 1 : 0)
