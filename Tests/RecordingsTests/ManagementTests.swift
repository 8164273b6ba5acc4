import BLECore
import HCI
import TestSupport
import Testing

@testable import Recordings

/// The decoding of the kernel's management interface, with the layouts of BlueZ's doc/mgmt-api.txt.
struct ManagementTests {
    private func layer(_ opcode: MonitorOpcode, _ hex: String) -> DecodedLayer {
        var dissector = Dissector()
        return dissector.dissect(
            Record(
                time: RecordingTime(microseconds: 0), adapter: 0,
                content: .note(opcode, octets("01000000" + hex)))
        ).top
    }

    @Test func deviceFoundEventIsDecoded() {
        let found = layer(
            .controlEvent, "1200 665544332211 02 c4 01000000 0700 020106 03020f18")
        #expect(found.name == "Device Found")
        #expect(found.fields["peer"] == .text("11:22:33:44:55:66/random"))
        #expect(found.fields["rssi"] == .described(.number(-60), as: "-60 dBm"))
        guard case .fields(let data)? = found.fields["data"] else {
            Issue.record("no data: \(found.fields)")
            return
        }
        #expect(data["flags"] == .number(6))
        #expect(data["services"] == .list([.text("180f")]))
    }

    @Test func longTermKeysAreDecodedAsList() {
        let key = "665544332211 01 00 01 10 3412 0807060504030201" + String(repeating: "ab", count: 16)
        let load = layer(.controlCommand, "1300 0100 \(key)")
        #expect(load.name == "Load Long Term Keys")
        guard case .list(let keys)? = load.fields["keys"], case .fields(let fields)? = keys.first else {
            Issue.record("no keys: \(load.fields)")
            return
        }
        #expect(keys.count == 1)
        #expect(fields["peer"] == .text("11:22:33:44:55:66/public"))
        #expect(fields["size"] == .number(16))
        #expect(fields["ediv"] == .number(0x1234))
        #expect(fields["value"] == .text(String(repeating: "ab", count: 16)))
    }

    @Test func advertisingAndScanResponseAreDecoded() {
        let add = layer(.controlCommand, "3e00 01 03000000 0000 0a00 03 03 020106 020a00")
        #expect(add.name == "Add Advertising")
        #expect(add.fields["timeout"] == .number(10))
        guard case .fields(let data)? = add.fields["data"],
            case .fields(let advertising)? = data["advertising"],
            case .fields(let response)? = data["scanResponse"]
        else {
            Issue.record("no data: \(add.fields)")
            return
        }
        #expect(advertising["flags"] == .number(6))
        #expect(response["txPower"] == .described(.number(0), as: "0 dBm"))
    }

    /// Refused commands have no return parameters, and newer kernels return more than older ones.
    @Test func returnParametersCanBeShorterOrLonger() {
        let refused = layer(.controlEvent, "02001f00 05")
        #expect(refused.fields["command"] == .text("User Passkey Negative Reply"))
        #expect(refused.fields["status"] == .text("authentication failed"))
        let version = layer(.controlEvent, "01000100 00 01 1600 ff")
        #expect(version.fields["revision"] == .number(22))
        #expect(version.fields["more"] == .text("ff"))
    }

    @Test(arguments: [
        ("1900665544", "peer at octet 6 needs 6 octets, 3 left"),
        ("1300ffff", "element 1 of 65535 at octet 8 needs 1 octet, 0 left"),
    ])
    func truncatedCommandReportsProblem(hex: String, problem: String) {
        let cut = layer(.controlCommand, hex)
        #expect(cut.problem?.hasSuffix(problem) == true, "\(cut.problem ?? "none")")
    }

    /// Every field kind in a form is a kind that the decoder supports.
    @Test(arguments: 1...90 as ClosedRange<UInt16>)
    func everyFormUsesKnownFieldKinds(number: UInt16) throws {
        let forms = [ManagementForm.command(number), ManagementForm.event(number)].compactMap { $0 }
        let fields = forms.flatMap { [$0.parameters, $0.returned] } + ManagementForm.elements.values
        for field in fields.flatMap({ $0.split(separator: " ") }) {
            let kind = try #require(field.wholeMatch(of: /[a-zA-Z0-9]+:(.+)/)?.output.1, "\(field)")
            let plain = [
                "u8", "i8", "u16", "u32", "flag", "status", "settings", "address", "peer", "key", "fields",
                "shortFields", "advertising", "rest",
            ]
            let list = kind.wholeMatch(of: /u(?:8|16)\*(.+)/)?.output.1
            let known =
                plain.contains(String(kind)) || kind.wholeMatch(of: /(text|octets)[0-9]+/) != nil
                || list.map { ManagementForm.elements[String($0)] != nil } == true
            #expect(known, "\(field)")
        }
    }
}
