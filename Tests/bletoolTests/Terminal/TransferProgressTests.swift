import Testing

@testable import bletool

struct TransferProgressTests {
    @Test(arguments: [
        (0, 1000, 0, 80, "[                              ]   0 %  0 B of 1.0 kB"),
        (
            500, 1000, 250, 80,
            "[###############               ]  50 %  500 B of 1.0 kB  2.0 kB/s  1s left"
        ),
        (1000, 1000, 2000, 80, "[##############################] 100 %  1.0 kB of 1.0 kB  500 B/s"),
        (1_500_000, 3_000_000, 3000, 60, "[#####      ]  50 %  1.5 MB of 3.0 MB  500.0 kB/s  3s left"),
        (500, 1000, 250, 30, " 50 %  500 B of 1.0 kB  2.0 k"),
        (0, 0, 0, 80, "[##############################] 100 %  0 B of 0 B"),
    ])
    func progressFitsColumns(_ done: Int, _ total: Int, _ milliseconds: Int, _ columns: Int, _ line: String) {
        let progress = TransferProgress(done: done, total: total, elapsed: .milliseconds(milliseconds))
        #expect(progress.line(columns: columns) == line)
    }

    @Test func summaryShowsTotalAndRate() {
        let progress = TransferProgress(done: 65_536, total: 65_536, elapsed: .milliseconds(3210))
        #expect(progress.summary == "65536 octets in 3.21 s, 20.4 kB/s")
    }
}
