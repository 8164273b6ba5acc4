import BLECore
import HCI
import Testing

@testable import BLE

struct ForeignScanTests {
    private func told(_ commands: String...) -> (changes: Int, verdict: ForeignScan.Verdict) {
        var scan = ForeignScan()
        var changes = 0
        for command in commands {
            let octets = [UInt8](hex: command) ?? []
            if scan.note(octets.span) { changes += 1 }
        }
        return (changes, scan.verdict)
    }

    private func expect(
        _ told: (changes: Int, verdict: ForeignScan.Verdict), _ changes: Int, _ verdict: ForeignScan.Verdict
    ) {
        #expect(told.changes == changes)
        #expect(told.verdict == verdict)
    }

    @Test func nothingIsSaid() { expect(told(), 0, .takeOver) }

    @Test("legacy: who scans for all is joined, who scans for some or stops is not")
    func legacy() {
        expect(told("0b2007" + "01600030000000", "0c2002" + "0100"), 1, .join)
        expect(told("0b2007" + "00600030000001", "0c2002" + "0100"), 1, .takeOver)
        expect(told("0b2007" + "01600030000000", "0c2002" + "0100", "0c2002" + "0000"), 2, .takeOver)
    }

    @Test("extended: the same")
    func extended() {
        let all = "412008" + "0000010160003000"
        expect(told(all, "422006" + "010100000000"), 1, .join)
        expect(told("412008" + "0001010060003000", "422006" + "010000000000"), 1, .takeOver)
        expect(told(all, "422006" + "010100000000", "422006" + "000000000000"), 2, .takeOver)
    }

    @Test func aResetEndsAll() {
        expect(told("0b2007" + "01600030000000", "0c2002" + "0100", "030c00"), 2, .takeOver)
    }

    @Test(arguments: ["", "0c", "0c2000", "0c2002", "0b2001" + "01", "412000", "ffff00"])
    func whatIsCutSaysNothing(command: String) { #expect(told(command).changes == 0) }
}
