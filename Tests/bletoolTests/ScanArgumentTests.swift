import ArgumentParser
import BLE
import BLECore
import Testing

@testable import bletool

struct ScanArgumentTests {
    private func options(_ arguments: String...) throws -> ScanOptions {
        try ScanArguments.parse(arguments).options()
    }

    private func refusal(_ arguments: String...) throws -> String? {
        let parsed = try ScanArguments.parse(arguments)
        do throws(Failure) {
            _ = try parsed.options()
            return nil
        } catch {
            return error.lines.first
        }
    }

    @Test func filterOptionsAreParsed() throws {
        let all = try options(
            "--service", "180f", "--service", "Heart Rate", "--name", "T*", "--company", "0x004c",
            "--company",
            "65535", "--rssi", "-70", "--address", "AA:BB:CC:DD:EE:FF/random", "--repeats", "every=2s",
            "--passive")
        #expect(all.services == [0x180f, 0x180d])
        #expect(all.name == "T*")
        #expect(all.companies == [0x004c, 0xffff])
        #expect(all.minimumRSSI == -70)
        #expect(all.addresses == [AddressFilter(0xaabb_ccdd_eeff, type: .random)])
        #expect(all.repeats == .every(.seconds(2)))
        #expect(all.isPassive)
        #expect(try options().repeats == .changes)
        #expect(try ScanArguments.parse([]).options(repeats: .all).repeats == .all)
        #expect(try ScanArguments.parse(["--repeats", "once"]).options(repeats: .all).repeats == .once)
    }

    @Test("a part of a company name can match several companies")
    func partialCompanyNameMatchesCompanies() throws {
        let nordic = try options("--company", "Nordic Semiconductor").companies
        #expect(nordic.contains(0x0059))
        #expect(
            try refusal("--company", "no such company at all")
                == "bletool: --company: no company has \"no such company at all\" in its name")
    }

    @Test func impossibleStrengthIsRefused() throws {
        #expect(
            try refusal("--rssi", "70") == "bletool: --rssi: a strength in dBm is -127 to 20, not 70")
        #expect(try options("--rssi", "20").minimumRSSI == 20)
    }

    @Test func timingOptionsAreParsed() throws {
        let one = try options("--interval", "100ms", "--window", "50ms")
        #expect(one.timing?.interval == .milliseconds(100) && one.timing?.window == .milliseconds(50))
        #expect(try options("--interval", "1s").timing?.share == 1)
        let two = try options("--phy", "coded,1m", "--interval", "1s,200ms", "--window", "500ms,20ms")
        #expect(two.timing?.interval == .milliseconds(200) && two.timing?.window == .milliseconds(20))
        #expect(two.codedTiming?.interval == .seconds(1) && two.codedTiming?.window == .milliseconds(500))
        #expect(try options().timing == nil)
    }

    @Test func invalidRepetitionsAreRefused() throws {
        #expect(
            try refusal("--repeats", "every=0s")
                == "bletool: --repeats: every= takes a duration of more than 0s")
        #expect(
            try refusal("--repeats", "often")
                == "bletool: --repeats: \"often\" is not once, change, all or every=DURATION")
    }

    @Test func codedPHYNeedsExtendedScanning() throws {
        #expect(
            try refusal("--phy", "1m,coded", "--extended", "off")
                == "bletool: --phy: coded needs extended scanning, which --extended off excludes")
    }

    @Test func invalidTimingsAreRefused() throws {
        #expect(
            try refusal("--interval", "10ms", "--preset", "balanced")
                == "bletool: --preset: sets the interval; leave --interval out")
        #expect(
            try refusal("--window", "10ms")
                == "bletool: --window: needs --interval")
        #expect(
            try refusal("--interval", "10ms", "--window", "20ms")
                == "bletool: --window: 20ms is not within 2.5ms to the interval, 10ms"
        )
        #expect(
            try refusal("--interval", "10ms,20ms") == "bletool: --interval: 2 are given, for 1 PHY"
        )
        #expect(try refusal("--phy", "1m,1m") == "bletool: --phy: \"1m\" is given twice")
        #expect(
            try refusal("--interval", "41s") == "bletool: --interval: 41s is not within 2.5ms to 40.96s")
        #expect(
            try refusal("--interval", "1ms") == "bletool: --interval: 1ms is not within 2.5ms to 40.96s")
    }
}
