import Foundation
import Testing

/// The digests of the model's traces in `Fixtures/traces/host.txt`: a line for each run, with its kind, its seed and its
/// digest, of the first seeds of each kind. A change of the host that keeps what is sent and seen keeps them; `Scripts/host-traces` records them.
enum GoldenTraces {
    /// The folder to write traces to, from the environment.
    static let folder = ProcessInfo.processInfo.environment["BLETOOL_TRACES"].map { URL(fileURLWithPath: $0) }

    private struct Run: Hashable {
        let kind: Int
        let seed: UInt64
    }

    private static let digests: [Run: String] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Fixtures/traces/host.txt").standardizedFileURL
        let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
        let rows = lines.map { $0.split(separator: " ") }.filter { $0.count == 3 }
        return Dictionary(
            rows.compactMap { row in
                guard let kind = Int(row[0]), let seed = UInt64(row[1]) else { return nil }
                return (Run(kind: kind, seed: seed), String(row[2]))
            }, uniquingKeysWith: { _, last in last })
    }()

    /// The number of seeds of each kind that have digests.
    static let seeds: UInt64 = 16

    /// Compares a run with its digest, which the first seeds have. With a folder for traces, writes the trace there instead.
    static func compare(_ trace: HostTrace, kind: Int, seed: UInt64) {
        if let folder {
            let text = ([trace.digest] + (trace.lines ?? [])).joined(separator: "\n") + "\n"
            let file = folder.appending(path: "\(kind)-\(seed).txt")
            #expect(throws: Never.self) { try text.write(to: file, atomically: true, encoding: .utf8) }
            return
        }
        guard seed < seeds else { return }
        #expect(
            trace.digest == digests[Run(kind: kind, seed: seed)],
            "kind \(kind), seed \(seed): not the trace that was recorded; see Scripts/host-traces")
    }
}
