import BLECore
import Glibc
import Testing

/// Random users of whole hosts; what fails is told with the fewest steps that show it.
@Suite(.timeLimit(.minutes(30))) struct HostModelTests {
    private static let hosts = 3

    private static func setting(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    /// `make verify` has more of them, from another beginning.
    private static let first = UInt64(setting("BLETOOL_MODEL_SEED") ?? 0)
    private static let runs = UInt64(setting("BLETOOL_MODEL_RUNS") ?? 2)

    @Test("whatever users do, in the end they have what they want, or know why not", arguments: 0..<8)
    func anyOrder(kind: Int) async throws {
        let (extended, pace, faults) = (kind & 1 > 0, kind & 2 > 0 ? 3 : nil as Int?, kind & 4 > 0)
        for seed in Self.first..<Self.first + Self.runs {
            var random = SplitMix64(seed: seed * 8 + UInt64(kind))
            let steps = HostStep.sequence(
                of: Int.random(in: 5...40, using: &random), hosts: Self.hosts, faults: faults, &random)
            func run(_ steps: [HostStep]) async throws -> [String] {
                try await HostModel.run(steps, hosts: Self.hosts, extended: extended, pace: pace)
            }
            guard let first = try await run(steps).first else { continue }
            let fewest = try await HostStep.fewest(of: steps) { try await !run($0).isEmpty }
            let complaints = try await run(fewest)
            Issue.record("kind \(kind), seed \(seed): \(first); of \(fewest): \(complaints)")
        }
    }
}
