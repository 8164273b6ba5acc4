import ATT
import ArgumentParser
import BLE
import BLECore
import GATTClient
import HCI
import HCISocket
import Recordings
import SystemPackage
import Testing

@testable import bletool

/// The messages about invalid arguments, requests that were not granted and other failures.
struct MessageTests {
    private func settings(_ arguments: [String]) throws -> AdvertiseSettings {
        try AdvertiseOptions.parse(arguments).settings(names: someNames)
    }

    @Test(
        "the hint about content that does not fit names what would help",
        arguments: [
            (
                250, ["--extended"],
                "extended, nonconnectable advertising has 1650 octets, in fields of 256 at most"
            ),
            (300, ["--extended"], "a field has at most 256 octets, with its length and type"),
            (
                300, ["--extended", "--type", "nonconnectable"],
                "a field has at most 256 octets, with its length and type"
            ),
            (
                300, ["--overflow", "extended", "--type", "nonconnectable"],
                "a field has at most 256 octets, with its length and type"
            ),
            (
                10,
                ["--name", "A name that fits", "--overflow", "scan-response", "--type", "nonconnectable"],
                "--type scannable, --overflow shorten-name or --overflow extended makes room"
            ),
        ] as [(Int, [String], String)])
    func oversizedContentHintNamesRemedy(octets: Int, options: [String], hint: String) throws {
        let data = "76:" + String(repeating: "00", count: octets)
        let settings = try settings(["--manufacturer", data] + options)
        let failure = try #require(#expect(throws: Failure.self) { try settings.checkedPlan() })
        #expect(failure.hint == hint)
    }

    @Test func sidRequiresExtendedAdvertising() throws {
        let failure = try #require(#expect(throws: Failure.self) { try settings(["--sid", "3"]) })
        #expect(failure.message == "--sid: legacy advertising has no SID")
        #expect(failure.kind == .usage)
        #expect(try settings(["--sid", "3", "--extended"]).sid == 3)
    }

    @Test func duplicateServicesAreMerged() throws {
        let settings = try settings([
            "--service", "180f", "--service", "1809", "--service", "0000180f",
        ])
        #expect(settings.content.services == [0x180f, 0x1809])
    }

    @Test(arguments: [
        (["gatt", "name:X"], "gatt: a verb is missing: tree, read, write, notify, info, dump, run or shell"),
        (
            ["--json", "gatt", "name:X", "--mtu", "23"],
            "gatt: a verb is missing: tree, read, write, notify, info, dump, run or shell"
        ),
        (["gatt", "name:X", "frob"], "gatt: \"frob\" is not a verb"),
    ])
    func missingOrUnknownVerbIsReported(_ arguments: [String], _ message: String) {
        #expect(GATTCommand.verbFailure(arguments).message == message)
    }

    @Test(arguments: [
        (
            "The value 'foo' is invalid for '--log-level <level>'. Please provide one of the following:\n  - trace\n  - debug",
            "The value 'foo' is invalid for '--log-level <level>'. Please provide one of the following: trace or debug"
        ), ("Unknown option '--foo'. Did you mean '--phy'?", "Unknown option '--foo'"),
        (
            "Unknown option '--durration'. Did you mean '--duration'?",
            "Unknown option '--durration'. Did you mean '--duration'?"
        ),
    ])
    func parserMessagesBecomeOneLine(_ message: String, _ line: String) {
        #expect(BLETool.plain(message) == line)
    }

    @Test func oversizedValueFailsWithChunkHint() throws {
        try withTemporaryPath { path in
            try File.replace(path, with: [UInt8](repeating: 1, count: 513))
            let words = ["name:X", "2a06", "--from", path]
            let failure = try #require(
                #expect(throws: Failure.self) { try GATTWriteCommand.parse(words).checkArguments() })
            #expect(failure.message == "--from \(path): has 513 octets, and an attribute's value at most 512")
            #expect(failure.hint?.hasPrefix("--chunk 512") == true)
            try GATTWriteCommand.parse(words + ["--chunk", "20"]).checkArguments()
        }
    }

    @Test func signedWritesRequireProperty() throws {
        let command = try GATTWriteCommand.parse(["name:X", "2a06", "01", "--signed"])
        for (properties, isTaken) in [([.read, .write], false), ([.authenticatedSignedWrites], true)]
            as [(CharacteristicProperties, Bool)]
        {
            let characteristic = RemoteCharacteristic(
                uuid: 0x2a06, handle: 1, valueHandle: 2, endHandle: 2, properties: properties, descriptors: []
            )
            let attribute = RemoteAttribute(handle: 2, uuid: 0x2a06, characteristic: characteristic)
            let result = Result { try command.check(attribute) }
            if case .failure(let error) = result {
                #expect(!isTaken && "\(error)".contains("takes no signed writes"))
            } else {
                #expect(isTaken)
            }
        }
    }

    @Test func compressedRecordingHintsAtGunzip() {
        let failure = Failure(.unknownFormat([0x1f, 0x8b, 8, 0]), in: "x.gz")
        #expect(failure.hint == "it is compressed: gunzip -c FILE | bletool decode -")
        #expect(Failure(.unknownFormat([1, 2, 3]), in: "x").hint == nil)
    }

    @Test("other recordings are named, with a program that reads them")
    func otherRecordingsHaveHints() {
        func hint(_ start: [UInt8]) -> String? { Failure(.unknownFormat(start), in: "x").hint }
        #expect(hint([0x50, 0x4b, 3, 4, 20, 0, 0, 0])?.contains("unzip -p FILE '*btsnoop_hci.log'") == true)
        #expect(hint([0, 0, 0, 0x0d, 0x5e, 0x10, 0x20, 0x30])?.contains("btmon -r FILE") == true)
        #expect(hint([0x42, 0x5a, 0x68, 0x39, 0, 0, 0, 0])?.contains("bunzip2 -c FILE") == true)
        #expect(hint(Array("========".utf8))?.contains("btsnooz.py") == true)
        for type: UInt32 in [157, 189, 220, 249, 251, 256, 272, 1003, 1004] {
            let failure = Failure(.unsupportedLinkType(type), in: "x")
            let isRead = PcapLinkType.readByTshark.contains(type)
            #expect(failure.hint == (isRead ? "tshark reads it: tshark -r FILE" : nil))
            #expect(failure.message.contains("it is of "), "\(failure.message)")
        }
        #expect(Failure(.unsupportedLinkType(7), in: "x").hint == nil)
    }

    @Test func captureSummaryStatesKeptFiles() {
        func line(_ files: Int, _ kept: Int) -> [String] {
            CaptureEvent.ended(file: "a", records: 236, files: files, kept: kept).lines(colored: false)
        }
        #expect(line(8, 2) == ["236 records in 8 files of a; the newest 2 are kept"])
        #expect(line(8, 8) == ["236 records in 8 files of a"])
        #expect(line(1, 1) == ["236 records in a"])
    }

    @Test(arguments: [
        ("mask", 0x3dbf_ffff_ffff_ffff, "0x3dbfffffffffffff"), ("company", 65_530, "0xfffa"),
        ("count", 5, "5"),
    ])
    func fieldNumbersAreFormattedByName(_ name: String, _ number: Int, _ text: String) {
        #expect(FieldText.text(number, named: name) == text)
    }

    @Test func permissionErrorHasPermissionStatus() {
        let failure = Failure(.port(.system(.permissionDenied, during: "connect")), while: "unix:x")
        #expect(failure.kind.status == .permission)
        #expect(failure.message == "unix:x: connect: Permission denied")
    }

    @Test func refusedPowerIsReported() throws {
        let request = try settings(["--tx-power-field", "--power", "10"]).checkedRequest()
        let set = ReadyEvent.Advertised(request, power: 0)
        #expect(set.plan.data == [2, 1, 6, 2, 0x0a, 0])
        #expect(set.refusedPower == "--power 10 is not granted: the controller has chosen 0 dBm")
        #expect(ReadyEvent.Advertised(request, power: 10).refusedPower == nil)
    }

    @Test func missingTrainFailureStatesReason() throws {
        let device = DeviceSelector.name("Plain")
        var seen = TrainSightings()
        #expect(seen.failure(device, nil, within: .seconds(1)).why == "not found within 1s")
        seen.add(
            AdvertisingReport(
                LEExtendedAdvertisingReports.Report(
                    type: [], address: HCIAddress(1, type: .public), sid: 2, rssi: -50, data: [])))
        #expect(seen.failure(device, nil, within: .seconds(1)).why == "it has no periodic train")
        #expect(seen.failure(device, 2, within: .seconds(1)).why == "its set 2 has no periodic train")
        let other = seen.failure(device, 5, within: .seconds(1))
        #expect(other.why == "it has no set 5" && other.hint == "it advertises set 2")
    }
}
