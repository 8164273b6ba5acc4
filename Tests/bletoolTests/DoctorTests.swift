import BLECore
import HCISocket
import Testing

@testable import BLE
@testable import bletool

struct DoctorTests {
    private func adapter(
        _ current: Management.Settings = [.powered, .lowEnergy],
        _ availability: AdapterDescription.Availability = .available, index: UInt16 = 0,
        supported: Management.Settings = [.powered, .lowEnergy]
    ) -> AdapterDescription {
        var adapter = AdapterDescription(
            index: index, address: DeviceAddress(0xaabb_ccdd_eeff, type: .public), name: "", version: .v5_3,
            manufacturer: 1, supported: supported, current: current)
        adapter.availability = availability
        return adapter
    }

    private let both: Set<Capability> = [.netRaw, .netAdmin]
    /// A switch of the machine, which belongs to no adapter.
    private let ofMachine = RadioSwitch(name: "thinkpad_bluetooth_sw", block: .hardware)

    @Test func usableAdapterPassesAllChecks() {
        let report = DoctorReport(Diagnosis(capabilities: both, adapters: [adapter()]))
        #expect(report.failure == nil)
        #expect(report.checks.allSatisfy { $0.status == .ok && $0.fix == nil })
        #expect(
            report.json.description == """
                {"event":"doctor","ok":true,"checks":[\
                {"check":"sockets","subject":null,"status":"ok","message":"the kernel's Bluetooth can be used","fix":null},\
                {"check":"capabilities","subject":null,"status":"ok",\
                "message":"this process has CAP_NET_RAW and CAP_NET_ADMIN","fix":null},\
                {"check":"adapter","subject":"hci0","status":"ok","message":"AA:BB:CC:DD:EE:FF is on","fix":null}],\
                "may":{"scan":true,"advertise":true,"serve":true,"gatt":true,"capture":true,"power":true,"user":true,\
                "virtual":true},"missing":{}}
                """)
    }

    @Test(
        "each problem has its status, exit status and fix",
        arguments: [
            (Diagnosis(listingError: .adapter(.noBluetooth)), "sockets", 3, "modprobe"),
            (Diagnosis(listingError: .adapter(.isolated)), "sockets", 3, "network=host"),
            (Diagnosis(listingError: .managementRefused(.listAdapters, .busy)), "sockets", 3, nil),
            (Diagnosis(capabilities: [.netAdmin]), "adapter", 3, "virtual"),
        ])
    func problemsHaveStatusAndFix(diagnosis: Diagnosis, check: String, status: Int32, fix: String?) throws {
        let report = DoctorReport(diagnosis)
        let found = try #require(report.checks.first { $0.name == check })
        #expect(found.status == .problem)
        #expect(fix.map { found.fix?.contains($0) == true } ?? (found.fix == nil))
        #expect(report.failure?.kind.status.rawValue == status)
        #expect(report.abilities.filter { $0.missing.isEmpty }.map(\.name) == ["virtual"])
    }

    @Test func missingCapabilitiesAreReportedWithFix() throws {
        let report = DoctorReport(Diagnosis(capabilities: [.netRaw], adapters: [adapter()]))
        #expect(report.failure?.kind == .permission)
        #expect(report.failure?.message == "capabilities: this process lacks CAP_NET_ADMIN")
        #expect(report.failure?.hint?.contains("setcap cap_net_raw,cap_net_admin") == true)
        #expect(report.abilities.filter { !$0.missing.isEmpty }.map(\.name) == ["power", "user"])

        // With no_new_privs, file capabilities have no effect, so setting them is not the fix.
        let inContainer = DoctorReport(Diagnosis(hasNoNewPrivileges: true, adapters: [adapter()]))
        #expect(inContainer.failure?.hint?.contains("no_new_privs") == true)

        // A scan requires that the adapter is on, and powering it on requires CAP_NET_ADMIN.
        let off = DoctorReport(Diagnosis(capabilities: [.netRaw], adapters: [adapter([.lowEnergy])]))
        #expect(off.abilities.first { $0.name == "scan" }?.missing == ["CAP_NET_ADMIN"])
    }

    @Test func unusableAdaptersAreReported() throws {
        func check(_ one: AdapterDescription, _ holders: [AdapterProblem.Holder.Process] = []) throws
            -> DoctorReport.Check
        {
            let report = DoctorReport(
                Diagnosis(capabilities: both, adapters: [one], userChannelHolders: holders))
            #expect(report.failure?.kind == .adapter)
            return try #require(report.checks.first { $0.name == "adapter" })
        }
        #expect(try check(adapter([], .taken)).message.contains("user channel"))
        let holder = AdapterProblem.Holder.Process(name: "gateway", id: 4711)
        #expect(try check(adapter([], .taken), [holder]).message.contains("gateway"))
        #expect(try check(adapter([], .notSetUp)).fix?.contains("firmware") == true)
        let switches = [
            RadioSwitch(name: "hci0", block: .software), RadioSwitch(name: "key", block: .hardware),
        ]
        let report = DoctorReport(
            Diagnosis(capabilities: both, switches: switches, adapters: [adapter([.lowEnergy])]))
        #expect(
            report.checks.filter { $0.name == "rfkill" }.map(\.fix) == [
                "rfkill unblock bluetooth", "rfkill list shows which switch it is",
            ])
        #expect(report.failure?.kind.status == .adapter)
    }

    @Test("abilities require an adapter that is available, supports LE and is not blocked")
    func abilitiesRequireUsableAdapter() {
        func missing(_ one: AdapterDescription, _ switches: [RadioSwitch] = []) -> Set<[String]> {
            let report = DoctorReport(
                Diagnosis(capabilities: both, switches: switches, adapters: [one]))
            // The monitor channel works in any case.
            #expect(report.abilities.first { $0.name == "capture" }?.missing == [])
            return Set(report.abilities.filter { !["capture", "virtual"].contains($0.name) }.map(\.missing))
        }
        #expect(missing(adapter()) == [[]])
        #expect(missing(adapter([], .taken)) == [["adapter"]])
        #expect(missing(adapter(supported: [.powered])) == [["adapter"]])
        let blocked = RadioSwitch(name: "hci0", block: .software)
        #expect(missing(adapter([.lowEnergy]), [blocked]) == [["adapter"]])
        #expect(missing(adapter([.lowEnergy]), [ofMachine]) == [["adapter"]])
        // An adapter that is on is not subject to the machine's switch.
        #expect(missing(adapter(), [ofMachine]) == [[]])
        // The switch of another radio is without effect on this adapter.
        #expect(missing(adapter(), [RadioSwitch(name: "hci1", block: .hardware)]) == [[]])
    }

    @Test("a radio that cannot be used beside one that can is a note")
    func unusableRadioBesideUsableOneIsNote() {
        let report = DoctorReport(
            Diagnosis(
                capabilities: both,
                switches: [RadioSwitch(name: "hci0", block: .software), RadioSwitch(name: "hci1")],
                adapters: [
                    adapter([.lowEnergy]), adapter(index: 1), adapter([], .taken, index: 2),
                    adapter(index: 3, supported: [.powered]),
                ]))
        #expect(report.failure == nil)
        let notes = report.checks.filter { $0.status == .note }
        #expect(
            notes.map { "\($0.name) \($0.subject ?? "")" } == [
                "rfkill hci0", "adapter hci0", "adapter hci2", "adapter hci3",
            ])
        #expect(notes.first?.fix == "rfkill unblock bluetooth")
        #expect(report.abilities.allSatisfy { $0.missing.isEmpty })
    }

    @Test("the default adapter is the first one that can be used, and abilities are those on it")
    func defaultAdapterIsFirstUsableOne() {
        func first(_ all: [AdapterDescription], _ switches: [RadioSwitch] = []) -> UInt16? {
            AdapterSpecification.first(of: all, with: switches)?.index
        }
        let blocked = RadioSwitch(name: "hci0", block: .software)
        #expect(first([]) == nil)
        #expect(first([adapter(), adapter(index: 1)]) == 0)
        #expect(first([adapter([.lowEnergy]), adapter(index: 1)], [blocked]) == 1)
        #expect(
            first([adapter(supported: [.powered]), adapter([], .taken, index: 1), adapter(index: 2)]) == 2)
        // The error of such an adapter is more specific than that no adapter exists.
        #expect(first([adapter([], .taken), adapter([.lowEnergy], index: 1)], [ofMachine]) == 1)
        #expect(first([adapter([], .taken), adapter([], .taken, index: 1)]) == 0)

        let report = DoctorReport(
            Diagnosis(capabilities: [.netRaw], adapters: [adapter([.lowEnergy]), adapter(index: 1)]))
        #expect(report.abilities.first { $0.name == "scan" }?.missing == ["CAP_NET_ADMIN"])
    }

    @Test func notesAreNotFailures() {
        let report = DoctorReport(
            Diagnosis(
                capabilities: both, bluetoothDaemon: 42, adapters: [adapter()],
                serialPorts: [
                    .init(path: "/dev/ttyACM0", isAccessible: false),
                    .init(path: "/dev/ttyUSB0", isAccessible: true),
                ]))
        #expect(report.failure == nil)
        #expect(report.checks.filter { $0.status == .note }.map(\.name) == ["bluetoothd", "serial"])
        #expect(report.checks.last?.fix?.contains("usermod -aG") == true)
        #expect(report.lines(colored: false).last == "may not -")
    }

    @Test func coloredLinesUseEscapeSequences() throws {
        let report = DoctorReport(Diagnosis(listingError: .adapter(.noBluetooth)))
        let (plain, colored) = (report.lines(colored: false), report.lines(colored: true))
        let line = try #require(colored.first { $0.contains("sockets: ") })
        #expect(line.hasPrefix(Style.red("problem ", when: true) + "sockets: "))
        #expect(!colored.joined().contains(#"\u{1b}"#))
        #expect(plain.contains { $0.hasPrefix("problem sockets: ") })
    }

    @Test func adapterEventDescribesAdapter() {
        var one = adapter([], .taken)
        one.usbPort = "1-1.4"
        let json = AdapterEvent(.changed(one)).json
        #expect(json["change"] == "changed")
        #expect(json["owner"] == "user-channel")
        #expect(json["usb"] == "1-1.4")
        #expect(json["hciVersion"] == .null)
        #expect(AdapterEvent(adapter: adapter()).json["change"] == nil)
        #expect(AdapterEvent(adapter: adapter()).json["owner"] == "kernel")
        #expect(AdapterEvent(adapter: adapter()).json["links"] == nil)
        one.links = [DeviceAddress(0xc102_0304_0506, type: .random)]
        let linked = AdapterEvent(adapter: one)
        #expect(
            linked.json["links"]
                == .array([
                    .object([.init("address", "C1:02:03:04:05:06"), .init("addressType", "random")])
                ]))
        #expect(linked.lines(colored: false).last == "  linked to C1:02:03:04:05:06")
    }
}
