import BLECore
import Foundation
import Testing

@testable import BLE

/// The contents of the files of /sys and /proc, in folders that a test fills.
struct SystemFilesTests {
    /// Runs `body` on a folder with these files (path and text) and links (path and target).
    private func files(
        _ texts: [String: String] = [:], links: [String: String] = [:], _ body: (SystemFiles) throws -> Void
    ) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: root) }
        func place(_ path: String) throws -> URL {
            let place = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            return place
        }
        for (path, text) in texts { try text.write(to: place(path), atomically: false, encoding: .utf8) }
        for (path, target) in links {
            try FileManager.default.createSymbolicLink(
                atPath: place(path).path, withDestinationPath: target)
        }
        try body(SystemFiles(root: root.path))
    }

    @Test("adapters are listed with their USB ports")
    func listsAdaptersWithUSBPorts() throws {
        let bus = "../../devices/pci0000:00/0000:00:14.0/usb1"
        try files(links: [
            "sys/class/bluetooth/hci0": "\(bus)/1-1/1-1.4/1-1.4:1.0/bluetooth/hci0",
            "sys/class/bluetooth/hci0:64": "\(bus)/1-1/1-1.4/1-1.4:1.0/bluetooth/hci0/hci0:64",
            "sys/class/bluetooth/hci11": "../../devices/virtual/bluetooth/hci11",
            "sys/class/bluetooth/hci2": "\(bus)/1-7/1-7:1.0/bluetooth/hci2",
        ]) { files in
            #expect(files.adapters == [0, 2, 11])
            #expect(files.usbPort(of: 0) == "1-1.4")
            #expect(files.usbPort(of: 2) == "1-7")
            #expect(files.usbPort(of: 11) == nil)
            #expect(files.usbPort(of: 3) == nil)
            #expect(files.whyNoSockets == .isolated)
        }
        try files { #expect($0.whyNoSockets == .noBluetooth) }
        try files(["proc/net/protocols": "protocol size\nUNIX 1024\nHCI       808      0\n"]) {
            #expect($0.whyNoSockets == .isolated)
        }
    }

    @Test("an adapter's identity is its static address if it has one")
    func identityIsStaticAddressIfSet() throws {
        let key = "00000000000000000000000000000000 00:00:00:00:00:00\n"
        try files([
            "sys/kernel/debug/bluetooth/hci0/identity": "C0:11:22:33:44:55 (type 1) \(key)",
            "sys/kernel/debug/bluetooth/hci1/identity": "00:AA:01:00:00:42 (type 0) \(key)",
            "sys/kernel/debug/bluetooth/hci2/identity": "",
        ]) { files in
            #expect(files.identity(of: 0) == DeviceAddress(0xc011_2233_4455, type: .random))
            #expect(files.identity(of: 1) == DeviceAddress(0x00aa_0100_0042, type: .public))
            #expect(files.identity(of: 2) == nil)
            #expect(files.identity(of: 3) == nil)
        }
    }

    @Test("an adapter is blocked only by its own switch or one of the machine's")
    func onlyOwnOrMachineSwitchBlocks() throws {
        func radio(_ number: Int, _ name: String, _ type: String, soft: Int, hard: Int) -> [String: String] {
            let folder = "sys/class/rfkill/rfkill\(number)"
            return [
                "\(folder)/name": "\(name)\n", "\(folder)/type": "\(type)\n", "\(folder)/soft": "\(soft)\n",
                "\(folder)/hard": "\(hard)\n",
            ]
        }
        var all = radio(0, "phy0", "wlan", soft: 1, hard: 1)
        all.merge(radio(1, "hci0", "bluetooth", soft: 1, hard: 0)) { $1 }
        all.merge(radio(2, "hci1", "bluetooth", soft: 0, hard: 0)) { $1 }
        all.merge(radio(3, "hci2", "bluetooth", soft: 1, hard: 1)) { $1 }
        try files(all) { files in
            #expect(files.radioSwitches.map(\.name) == ["hci0", "hci1", "hci2"])
            #expect(files.block(of: 0) == .software)
            #expect(files.block(of: 1) == nil)
            #expect(files.block(of: 2) == .hardware)
        }
        all.merge(radio(4, "tpacpi_bluetooth_sw", "bluetooth", soft: 0, hard: 1)) { $1 }
        try files(all) { #expect($0.block(of: 1) == .hardware) }
    }

    @Test("processes with HCI sockets are listed")
    func listsSocketHolders() throws {
        try files(
            [
                "proc/net/hci": "sk RefCnt Rmem Wmem User Inode Parent\n0000 2 0 0 0 4711 0\n",
                "proc/12/comm": "bletool\n", "proc/13/comm": "bluetoothd\n", "proc/self/comm": "x\n",
            ],
            links: ["proc/12/fd/5": "socket:[4711]", "proc/13/fd/5": "socket:[4712]"]
        ) { files in
            #expect(files.socketHolders.map(\.process) == [12])
            #expect(files.socketHolders.map(\.name) == ["bletool"])
            #expect(files.bluetoothDaemon == 13)
        }
    }

    @Test(
        "the capabilities of this process are read",
        arguments: [
            ("0000000000003000", [.netAdmin, .netRaw]), ("0000000000002000", [.netRaw]), ("0", []),
        ] as [(String, Set<Capability>)])
    func readsCapabilities(mask: String, expected: Set<Capability>) throws {
        try files(["proc/self/status": "Name:\tx\nCapEff:\t\(mask)\nNoNewPrivs:\t1\n"]) { files in
            let diagnosis = Diagnosis(files)
            #expect(diagnosis.capabilities == expected)
            #expect(diagnosis.hasNoNewPrivileges)
        }
    }
}
