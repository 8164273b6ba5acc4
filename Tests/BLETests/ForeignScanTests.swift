import BLECore
import HCI
import Testing

@testable import BLE

struct ForeignScanTests {
    private enum Verdict { case join, takeOver }

    private func outcome(
        _ commands: String..., wanting options: ScanOptions = ScanOptions()
    ) throws -> (changes: Int, verdict: Verdict) {
        var scan = ForeignScan()
        var changes = 0
        for command in commands {
            let octets = [UInt8](hex: command) ?? []
            if scan.note(octets.span) { changes += 1 }
        }
        let conditions = ScanConditions(hasExtendedFamily: true)
        let wanted = try #require(ScanParameters([options], under: conditions))
        return (changes, scan.receives(wanted) ? .join : .takeOver)
    }

    private func expect(_ outcome: (changes: Int, verdict: Verdict), _ changes: Int, _ verdict: Verdict) {
        #expect(outcome.changes == changes)
        #expect(outcome.verdict == verdict)
    }

    @Test func withoutForeignCommandsScanIsTakenOver() throws { expect(try outcome(), 0, .takeOver) }

    @Test("a foreign legacy scan is joined if it is active and unfiltered, else taken over")
    func joinsUnfilteredActiveLegacyScan() throws {
        expect(try outcome("0b2007" + "01600060000000", "0c2002" + "0100"), 1, .join)
        expect(try outcome("0b2007" + "00600060000001", "0c2002" + "0100"), 1, .takeOver)
        expect(try outcome("0b2007" + "01600060000000", "0c2002" + "0100", "0c2002" + "0000"), 2, .takeOver)
    }

    @Test("a foreign extended scan is joined if it is active and unfiltered, else taken over")
    func joinsUnfilteredActiveExtendedScan() throws {
        let all = "412008" + "0000010160006000"
        expect(try outcome(all, "422006" + "010100000000"), 1, .join)
        expect(try outcome("412008" + "0001010060006000", "422006" + "010000000000"), 1, .takeOver)
        expect(try outcome(all, "422006" + "010100000000", "422006" + "000000000000"), 2, .takeOver)
    }

    @Test("a foreign scan that filters by the accept list is not joined")
    func doesNotJoinFilteredScan() throws {
        let legacy = { (policy: String) in "0b2007" + "016000600000" + policy }
        let extended = { (policy: String) in "412008" + "00" + policy + "010160006000" }
        // The lowest bit filters by the accept list; the next one is about directed advertising.
        for (policy, verdict) in [("00", Verdict.join), ("01", .takeOver), ("02", .join), ("03", .takeOver)] {
            expect(try outcome(legacy(policy), "0c2002" + "0100"), 1, verdict)
            expect(try outcome(extended(policy), "422006" + "010000000000"), 1, verdict)
        }
    }

    @Test("a foreign passive scan is joined only by a passive scan")
    func joinsPassiveScanOnlyPassively() throws {
        let passive = ("0b2007" + "00600060000000", "0c2002" + "0101")
        expect(try outcome(passive.0, passive.1), 1, .takeOver)
        var options = ScanOptions()
        options.isPassive = true
        expect(try outcome(passive.0, passive.1, wanting: options), 1, .join)
    }

    @Test("a foreign scan is joined only if its duty cycle is at least that of the preset")
    func joinsScanWithSufficientDutyCycle() throws {
        let legacy = { "0b2007" + "01" + $0 + "0000" }
        let extended = { "412008" + "00000101" + $0 }
        for (timing, joining) in [
            ("60006000", ScanOptions.Preset.allCases), ("60003000", [.lowPower, .balanced]),
            ("00081200", [.lowPower]), ("00081100", []), ("00000000", []),
        ] {
            for preset in ScanOptions.Preset.allCases {
                var options = ScanOptions()
                options.preset = preset
                let verdict = joining.contains(preset) ? Verdict.join : .takeOver
                expect(try outcome(legacy(timing), "0c2002" + "0100", wanting: options), 1, verdict)
                expect(
                    try outcome(extended(timing), "422006" + "010000000000", wanting: options), 1, verdict)
            }
        }
    }

    @Test("a foreign scan on LE 1M alone is not joined by a scan on LE Coded")
    func codedScanDoesNotJoinScanOnLE1M() throws {
        var options = ScanOptions()
        options.phys = [.le1M, .leCoded]
        let (one, on) = ("412008" + "0000010160006000", "422006" + "010000000000")
        let both = "41200d" + "000005" + "0160006000" + "0160006000"
        expect(try outcome(one, on, wanting: options), 1, .takeOver)
        expect(try outcome(both, on, wanting: options), 1, .join)
    }

    @Test func resetEndsForeignScan() throws {
        expect(try outcome("0b2007" + "01600060000000", "0c2002" + "0100", "030c00"), 2, .takeOver)
    }

    @Test(arguments: ["", "0c", "0c2000", "0c2002", "0b2001" + "01", "412000", "ffff00"])
    func truncatedCommandIsIgnored(command: String) throws { #expect(try outcome(command).changes == 0) }
}
