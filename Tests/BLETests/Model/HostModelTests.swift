import BLECore
import Glibc
import Testing

/// Random operations of users on whole hosts. A failure is reported with the fewest steps that show it.
@Suite(.timeLimit(.minutes(30))) struct HostModelTests {
    private static let hosts = 3

    private static func setting(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    /// `make model` runs more sequences, beginning with another seed.
    private static let first = UInt64(setting("BLETOOL_MODEL_SEED") ?? 0)
    private static let runs = setting("BLETOOL_MODEL_RUNS").map { UInt64($0) }

    /// Sequences that have failed once, with the fewest steps.
    private static let found: [(kind: Int, [HostStep])] = [
        // The controller kept a link that the host had removed.
        (
            4,
            [
                .alter(1, .disconnect, .refusal), .connect(0, to: 1), .advertise(1),
                .wait(milliseconds: 7000),
                .expel(0, by: 1),
            ]
        ),
        (
            7,
            [
                .alter(0, .cancel, .silence), .connect(0, to: 1), .advertise(1), .leave(0, from: 1),
                .wait(milliseconds: 7000), .advertise(0), .connect(2, to: 0),
            ]
        ),
        // Each host had a link that was not established whenever the request of the other host arrived.
        (
            0,
            [
                .connect(0, to: 1), .connect(2, to: 1), .wait(milliseconds: 1000), .advertise(2),
                .wait(milliseconds: 1000), .advertise(1), .connect(1, to: 2),
            ]
        ),
        // An advertisement was reported as stopped, although the controller had refused the command.
        (
            7,
            [
                .advertise(1), .connect(0, to: 1), .wait(milliseconds: 10), .alter(1, .advertise, .refusal),
                .stopAdvertising(1), .wait(milliseconds: 1),
            ]
        ),
    ]

    @Test("sequences that failed earlier pass", arguments: found.indices)
    func earlierFailuresPass(index: Int) async throws {
        let (kind, steps) = Self.found[index]
        let outcome = try await HostModel.run(
            steps, hosts: Self.hosts, HostSetting(kind))
        #expect(outcome.complaints.isEmpty)
    }

    @Test(
        "in random sequences each operation succeeds or fails with a reason in the end",
        arguments: HostSetting.all)
    func randomSequencesPass(setting: HostSetting) async throws {
        let kind = setting.kind
        for seed in Self.first..<Self.first + (Self.runs ?? (setting.world == .plain ? 2 : 1)) {
            var random = SplitMix64(seed: seed * 8 + UInt64(kind % 8))
            let steps = HostStep.sequence(
                of: Int.random(in: 5...40, using: &random), hosts: Self.hosts, setting, &random)
            func run(_ steps: [HostStep], keepsTrace: Bool = false) async throws -> HostModel.Outcome {
                try await HostModel.run(steps, hosts: Self.hosts, setting, keepsTrace: keepsTrace)
            }
            let outcome = try await run(steps, keepsTrace: GoldenTraces.folder != nil)
            GoldenTraces.compare(outcome.trace, kind: kind, seed: seed)
            guard let first = outcome.complaints.first else { continue }
            let fewest = try await HostStep.fewest(of: steps) { try await !run($0).complaints.isEmpty }
            let complaints = try await run(fewest).complaints
            Issue.record("kind \(kind), seed \(seed): \(first); of \(fewest): \(complaints)")
        }
    }
}
