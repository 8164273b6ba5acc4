import ArgumentParser
import BLE
import BLECore
import Testing

@testable import bletool

struct CommandLineTests {
    @Test(arguments: [
        (["advertise", "--name", "x"], ["advertise", "--name", "x"]),
        (["--json", "advertise"], ["advertise", "--json"]),
        (
            ["--adapter", "hci0", "--json", "scan", "--name", "x"],
            ["scan", "--adapter", "hci0", "--json", "--name", "x"]
        ),
        (["--adapter=hci0", "scan"], ["scan", "--adapter=hci0"]), (["--adapter"], ["--adapter"]),
        (["--json"], ["--json"]),
        (["--json=x", "scan"], ["--json=x", "scan"]), (["--version"], ["--version"]), ([], []),
        (["--json", "--help"], ["--json", "--help"]),
    ])
    func globalOptionsMayComeFirst(arguments: [String], expected: [String]) {
        #expect(BLETool.globalsLast(arguments) == expected)
    }

    private func settings(_ arguments: [String]) throws -> AdvertiseSettings {
        try AdvertiseOptions.parse(arguments).settings(names: someNames)
    }

    @Test func allOptionsAreRead() throws {
        let settings = try settings([
            "--name", "Lamp", "--service", "180f", "--service", "battery_level", "--solicit", "1809",
            "--manufacturer",
            "0xffff:0102", "--manufacturer", "76:", "--service-data", "Battery Service:64", "--appearance",
            "0x0340",
            "--tx-power-field", "--power", "-20", "--flags", "06", "--url", "https://example.org",
            "--ibeacon",
            "e2c56db5-dffb-48d2-b060-d0f5a71096e0,1,0x2,-59", "--eddystone-url", "https://example.com/a",
            "--raw-scan-response", "020a00", "--interval", "152.5ms", "--type", "scannable", "--overflow",
            "shorten-name",
            "--extended",
        ])
        let content = settings.content
        #expect(content.name == "Lamp")
        #expect(content.services == [0x180f, 0x2a19])
        #expect(content.solicited == [0x1809])
        #expect(content.manufacturer == [ManufacturerData(.test, [1, 2]), ManufacturerData(.apple, [])])
        #expect(content.serviceData == [ServiceData(0x180f, [0x64])])
        #expect(content.appearance == 0x0340)
        #expect(content.flags == .discoverable)
        #expect(content.uri?.text == "https://example.org")
        #expect(content.iBeacon?.minor == 2)
        #expect(content.iBeacon?.measuredPower == -59)
        #expect(content.eddystoneURL?.url == "https://example.com/a")
        #expect(content.rawScanResponse == [2, 0x0a, 0])
        #expect(settings.interval == .microseconds(152_500))
        #expect(settings.kind == .scannable)
        #expect(settings.overflow == .shortenName)
        #expect(settings.isExtended && settings.tellsPower)
        #expect(settings.power == -20)
    }

    @Test(arguments: [
        ("--name", ""), ("--service", "18"), ("--solicit", ""), ("--manufacturer", "0102"),
        ("--manufacturer", "70000:00"),
        ("--manufacturer", "0059:00"), ("--service-data", "feaa"), ("--service-data", "feaa:0"),
        ("--appearance", "65536"),
        ("--power", "21"), ("--power", "x"), ("--flags", "0606"), ("--flags", "6"), ("--url", "example"),
        ("--url", "http://é"),
        ("--ibeacon", "1,2,3"), ("--ibeacon", "180f,1,2,-59"),
        ("--ibeacon", "e2c56db5-dffb-48d2-b060-d0f5a71096e0,1,2,-200"),
        ("--eddystone-url", "https://a-name-that-is-too-long.example"), ("--raw", "0"),
        ("--raw-scan-response", "x"),
        ("--interval", "19ms"), ("--interval", "11s"),
    ])
    func badValuesNameTheirOption(option: String, value: String) throws {
        let failure = #expect(throws: Failure.self) { try settings([option, value]) }
        #expect(failure?.what == option)
        #expect(failure?.kind.status == .badInput)
    }

    @Test func extendedIntervalsAreLonger() throws {
        #expect(try settings(["--extended", "--interval", "11s"]).interval == .seconds(11))
    }

    @Test func adaptersComeFromOptionOrEnvironment() throws {
        let options = try GlobalOptions.parse(["--adapter", "hci1"])
        #expect(try options.adapter { _ in "virtual" } == .kernel(.index(1)))
        let none = try GlobalOptions.parse([])
        #expect(try none.adapter { $0 == "BLETOOL_ADAPTER" ? "virtual" : nil } == .virtual(name: nil))
        #expect(try none.adapter { _ in "" } == nil)
        let failure = #expect(throws: Failure.self) { try none.adapter { _ in "usb" } }
        #expect(failure?.what == "BLETOOL_ADAPTER")
    }

    @Test func timeLimitsAreMoreThanNothing() throws {
        #expect(try GlobalOptions.parse(["--timeout", "2s"]).timeLimit() == .seconds(2))
        #expect(throws: Failure.self) { try GlobalOptions.parse(["--timeout", "0s"]).timeLimit() }
    }

    @Test func failuresSayWhatWouldHelp() throws {
        let crowded = try settings(["--name", "Thermometer in the kitchen", "--service", "1809"])
        let failure = try #require(#expect(throws: Failure.self) { try crowded.checkedPlan() })
        #expect(failure.hint == "--overflow shorten-name, scan-response or extended makes room")
        for part in ["name", "28", "31", "35"] { #expect(failure.why.contains(part)) }
    }
}
