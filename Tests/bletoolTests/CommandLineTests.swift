import ArgumentParser
import BLE
import BLEAdvertising
import BLECore
import HCI
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
        (["--json", "bonds", "list", "--x"], ["bonds", "list", "--json", "--x"]),
        (["--json", "bonds"], ["bonds", "--json"]),
        (["--json", "gatt", "name:tree", "tree"], ["gatt", "--json", "name:tree", "tree"]),
    ])
    func globalOptionsCanComeFirst(arguments: [String], expected: [String]) {
        #expect(BLETool.globalsLast(arguments) == expected)
    }

    private func settings(_ arguments: [String]) throws -> AdvertiseSettings {
        try AdvertiseOptions.parse(arguments).settings(names: someNames)
    }

    @Test func advertisingOptionsAreParsed() throws {
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
        #expect(settings.isExtended && settings.includesTxPower)
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
    func invalidValueErrorNamesOption(option: String, value: String) throws {
        let failure = #expect(throws: Failure.self) { try settings([option, value]) }
        #expect(failure?.what == option)
        #expect(failure?.kind.status == .badInput)
    }

    @Test func extendedAdvertisingAllowsLongerIntervals() throws {
        #expect(try settings(["--extended", "--interval", "11s"]).interval == .seconds(11))
    }

    @Test func adapterComesFromOptionOrEnvironment() throws {
        let options = try RadioOptions.parse(["--adapter", "hci1"])
        #expect(try options.adapter { _ in "virtual" } == .kernel(.index(1)))
        let none = try RadioOptions.parse([])
        #expect(try none.adapter { $0 == "BLETOOL_ADAPTER" ? "virtual" : nil } == .virtual(name: nil))
        #expect(try none.adapter { _ in "" } == nil)
        #expect(try none.hasPassingAddress { _ in "virtual" } && !none.hasPassingAddress { _ in "virtual:a" })
        let failure = #expect(throws: Failure.self) { try none.adapter { _ in "usb" } }
        #expect(failure?.what == "BLETOOL_ADAPTER")
    }

    @Test func timeLimitMustBePositive() throws {
        #expect(try TimeLimitOptions.parse(["--timeout", "2s"]).limit() == .seconds(2))
        #expect(throws: Failure.self) { try TimeLimitOptions.parse(["--timeout", "0s"]).limit() }
    }

    @Test func oversizedContentFailureHasHint() throws {
        let crowded = try settings(["--name", "Thermometer in the kitchen", "--service", "1809"])
        let failure = try #require(#expect(throws: Failure.self) { try crowded.checkedPlan() })
        #expect(failure.hint == "--overflow shorten-name, scan-response or extended makes room")
        for part in ["name", "28", "31", "35"] { #expect(failure.why.contains(part)) }
    }

    @Test(
        "content that cannot be advertised fails with its option, reason and hint",
        arguments: [
            (["--raw", "0201"], "--raw", "AD structure at octet 0 needs 2 octets, 1 left", nil),
            (
                ["--raw", String(repeating: "020106", count: 11)], "--raw",
                "takes 33 octets and does not fit: the limit is 31", "--overflow extended makes room"
            ),
            (
                ["--name", String(repeating: "n", count: 40), "--overflow", "scan-response"], "--name",
                "the packet has 31 and the scan response 31, and flags 3, name 42 make 45",
                "--overflow shorten-name or extended makes room"
            ),
            (
                [
                    "--manufacturer", "76:" + String(repeating: "00", count: 40), "--overflow",
                    "scan-response",
                ],
                "--manufacturer", "takes 44 octets", "--overflow extended makes room"
            ),
            (
                [
                    "--ibeacon", "f7826da6-4fa2-4e98-8024-bc5b71e0893e,1,2,-59", "--service", "180f",
                    "--overflow", "fail",
                ],
                "--ibeacon", "takes 27 octets",
                "--overflow scan-response or extended makes room; --and sends the rest as another advertisement"
            ),
            // Two incomplete lists have room for the UUIDs: one in the packet and one in the scan response.
            (
                [
                    "--service", "9d2a0001-0000-4000-8000-000000000001", "--service",
                    "9d2a0001-0000-4000-8000-000000000002",
                ],
                "--service", "takes 34 octets", "--overflow scan-response or extended makes room"
            ),
            // Two incomplete lists have no room for the third UUID.
            (
                [
                    "--service", "9d2a0001-0000-4000-8000-000000000001", "--service",
                    "9d2a0001-0000-4000-8000-000000000002", "--service",
                    "9d2a0001-0000-4000-8000-000000000003",
                ],
                "--service", "takes 50 octets", "--overflow extended makes room"
            ),
            (["--raw-scan-response", "05"], "--raw-scan-response", "needs 5 octets, 0 left", nil),
        ] as [([String], String, String, String?)])
    func invalidContentFailsWithHint(_ arguments: [String], _ option: String, _ why: String, _ hint: String?)
        throws
    {
        let settings = try settings(arguments)
        let failure = try #require(#expect(throws: Failure.self) { try settings.checkedPlan() })
        #expect(failure.what == option && failure.hint == hint)
        #expect(failure.why.contains(why), "\(failure.why)")
    }

    @Test func advertisingParametersAreParsed() throws {
        let settings = try settings([
            "--type", "nonconnectable", "--anonymous", "--preset", "background", "--channels", "37,39",
            "--primary-phy",
            "coded", "--secondary-phy", "2m", "--sid", "7", "--max-events", "255",
        ])
        let request = try settings.checkedRequest()
        #expect(request.interval == .microseconds(1_022_500))
        #expect(request.channels == [.channel37, .channel39])
        #expect(request.primaryPHY == .leCoded && request.secondaryPHY == .le2M)
        #expect(request.isAnonymous && request.sid == 7 && request.maximumEvents == 255)
        // Only extended advertising supports all these options.
        #expect(request.plan.extended == [])
    }

    @Test func periodicAdvertisingOptionsAreParsed() throws {
        let same = try settings(["--name", "T", "--periodic", "100ms"]).checkedRequest()
        // The advertisement is nonconnectable and extended. The train has the same data as the advertisement.
        #expect(same.kind == .nonconnectable && same.plan.extended == [2, 9, 0x54])
        #expect(same.periodic == PeriodicAdvertisingTrain([2, 9, 0x54], every: .milliseconds(100)))
        let other = try settings([
            "--name", "T", "--periodic", "7.5ms-1s", "--periodic-manufacturer", "0xffff:01",
            "--periodic-service-data", "180f:64", "--periodic-tx-power",
        ]).checkedRequest()
        var train = PeriodicAdvertisingTrain(
            [4, 0xff, 0xff, 0xff, 1, 4, 0x16, 0x0f, 0x18, 0x64], within: .microseconds(7500)...(.seconds(1)))
        train.includesTxPower = true
        #expect(other.plan.extended == [2, 9, 0x54] && other.periodic == train)
        let raw = try settings(["--periodic", "1s", "--periodic-data", "020106"]).checkedRequest()
        #expect(raw.plan.extended == [] && raw.periodic?.data == [2, 1, 6])
        let broken = try settings(["--periodic", "1s", "--periodic-data", "0301"])
        let failure = try #require(#expect(throws: Failure.self) { try broken.checkedRequest() })
        #expect(failure.what == "--periodic-data")
    }

    @Test func directedAdvertisingHasNoContent() throws {
        let settings = try settings(["--directed", "C0:00:00:00:00:01/random", "--high-duty"])
        let request = try settings.checkedRequest()
        let peer = try #require(DeviceAddress("C0:00:00:00:00:01/random"))
        #expect(request == AdvertisingRequest(to: AdvertisingDirection(peer, dutyCycle: .high)))
    }

    @Test(
        "invalid values and combinations of options are refused",
        arguments: [
            (["--directed", "x"], "--directed"), (["--high-duty"], "--high-duty"),
            (["--directed", "00:00:00:00:00:01", "--name", "x"], "--directed"),
            (["--directed", "00:00:00:00:00:01", "--type", "scannable"], "--directed"),
            (["--directed", "00:00:00:00:00:01", "--extended", "--high-duty"], "--high-duty"),
            (["--anonymous"], "--anonymous"), (["--preset", "balanced", "--interval", "1s"], "--preset"),
            (["--channels", "36"], "--channels"), (["--sid", "16"], "--sid"),
            (["--max-events", "0"], "--max-events"),
            (["--interval", "10.25s"], "--interval"), (["--periodic", "7ms"], "--periodic"),
            (["--periodic", "81.92s"], "--periodic"), (["--periodic", "2s-1s"], "--periodic"),
            (["--periodic-data", "020106"], "--periodic-data"),
            (["--periodic", "1s", "--type", "connectable"], "--periodic"),
            (["--periodic", "1s", "--anonymous"], "--periodic"),
        ])
    func invalidOptionCombinationsAreRefused(_ arguments: [String], _ option: String) throws {
        let failure = try #require(#expect(throws: Failure.self) { try settings(arguments) })
        #expect(failure.what == option)
    }

    @Test(
        "options of the whole command are moved before --and, and one at the end is doubled",
        arguments: [
            ("advertise --name x", "advertise --name x"),
            ("advertise --name x --and --name y --json", "advertise --name x --json --and --name y"),
            (
                "advertise --and --duration 1s --name y --adapter=hci0 --and --dry-run",
                "advertise --duration 1s --adapter=hci0 --dry-run --and --name y --and --and"
            ),
            ("scan --and --json", "scan --and --json"),
        ])
    func globalOptionsMoveBeforeAnd(_ arguments: String, _ expected: String) {
        let split = { (text: String) in text.split(separator: " ").map(String.init) }
        #expect(AdvertiseCommand.andLast(split(arguments)) == split(expected))
    }

    @Test("security levels are named in arguments and in help")
    func securityLevelsAreParsedAndDocumented() throws {
        #expect(
            try GATTReadCommand.parse(["name:X", "2a19", "--security", "fips"]).options.link.security
                == .secureConnections
        )
        #expect(throws: (any Error).self) {
            try GATTReadCommand.parse(["name:X", "2a19", "--security", "4"])
        }
        #expect(
            try GATTReadCommand.parse(["name:X", "2a19", "--offset", "-1"]).offset == "-1",
            "which is refused in words"
        )
        for (offset, isAllowed) in [("512", true), ("513", false), ("-1", false)] {
            let command = try GATTReadCommand.parse(["name:X", "2a19", "--offset", offset])
            let result = Result { try command.checkArguments() }
            if case .failure(let error) = result {
                #expect(!isAllowed && (error as? Failure)?.what == "--offset")
            } else {
                #expect(isAllowed)
            }
        }
        #expect(
            try GATTReadCommand.parse(["name:X", "2a19", "--security", "authenticated"]).options.link.security
                == .authenticated
        )
        #expect(
            GATTReadCommand.helpMessage(columns: 300).contains(
                "(values: low, medium, high, fips, open, encrypted, authenticated, secureConnections)"))
    }
}
