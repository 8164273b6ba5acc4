import BLECore
import Glibc
import HCISocket

/// The information that the kernel reports in files of /sys and /proc: small files, which it answers at once.
package struct SystemFiles: Sendable {
    /// The folder that contains `sys` and `proc`; empty for the system's own.
    var root: String

    /// Creates the files below `root`.
    package init(root: String = "") { self.root = root }

    /// Returns the text of a file without the line ends behind it; nil when it cannot be read.
    func text(_ path: String) -> String? {
        guard let file = fopen(root + path, "re") else { return nil }
        defer { fclose(file) }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while octets.count < 1 << 20 {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            octets += chunk.prefix(count)
        }
        while octets.last == UInt8(ascii: "\n") { octets.removeLast() }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Returns the names in a folder, sorted; none when it cannot be read.
    func names(in folder: String) -> [String] {
        guard let stream = opendir(root + folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the path that a symbolic link contains; nil if it cannot be read.
    func target(of path: String) -> String? {
        var octets = [UInt8](repeating: 0, count: 4096)
        let count = octets.withUnsafeMutableBytes { room -> Int in
            guard let start = room.baseAddress?.assumingMemoryBound(to: CChar.self) else { return 0 }
            return readlink(root + path, start, room.count)
        }
        return count > 0 ? String(decoding: octets.prefix(count), as: UTF8.self) : nil
    }

    /// Returns whether there is such a file or folder.
    func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }
}

/// An rfkill switch for Bluetooth radios.
public struct RadioSwitch: Hashable, Sendable {
    /// The adapter's name, such as `hci0`, or the name of a switch of the machine.
    public var name: String
    /// What blocks the radio, if anything; a hardware switch takes precedence over a setting.
    public var block: AdapterProblem.RadioBlock?
}

extension [RadioSwitch] {
    /// Returns what blocks an adapter: its own switch, or one of the machine's.
    func block(of index: UInt16) -> AdapterProblem.RadioBlock? {
        let own = filter { $0.name == "hci\(index)" || !$0.name.hasPrefix("hci") }
        return own.first { $0.block == .hardware }?.block ?? own.first { $0.block != nil }?.block
    }
}

extension SystemFiles {
    /// Whether the kernel has Bluetooth, even if this process cannot use it.
    var hasBluetooth: Bool {
        exists("/sys/module/bluetooth") || exists("/sys/class/bluetooth")
            || (text("/proc/net/protocols")?.split(separator: "\n").contains { $0.hasPrefix("HCI ") } ?? false)
    }

    /// The reason that there are no Bluetooth sockets.
    var whyNoSockets: AdapterProblem { hasBluetooth ? .isolated : .noBluetooth }

    /// The indices of the kernel's adapters, including those that management does not list.
    var adapters: [UInt16] {
        // hci0:64 is a connection.
        names(in: "/sys/class/bluetooth").compactMap { name in
            name.hasPrefix("hci") ? UInt16(name.dropFirst(3)) : nil
        }.sorted()
    }

    /// The USB port that an adapter is plugged into, as the kernel numbers them: `1-1.4` is port 4 of the hub
    /// in port 1 of bus 1. Nil for adapters that are not on USB.
    func usbPort(of index: UInt16) -> String? {
        // ../../devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1.4/1-1.4:1.0/bluetooth/hci0
        let folders = target(of: "/sys/class/bluetooth/hci\(index)")?.split(separator: "/")
        return folders?.last(where: { UsbPort.isOne($0) }).map(String.init)
    }

    /// The file with an adapter's identity address, for processes that may read debugfs.
    static func identityFile(of index: UInt16) -> String {
        "/sys/kernel/debug/bluetooth/hci\(index)/identity"
    }

    /// Returns the address by which other devices know an adapter and its links; nil when this process is not
    /// allowed to read it.
    func identity(of index: UInt16) -> DeviceAddress? {
        // C0:11:22:33:44:55 (type 1) 00112233445566778899aabbccddeeff 00:00:00:00:00:00
        guard let words = text(Self.identityFile(of: index))?.split(separator: " "), words.count >= 3 else {
            return nil
        }
        return DeviceAddress(words[0], defaultType: words[2] == "1)" ? .random : .public)
    }

    /// The rfkill switches of Bluetooth radios.
    var radioSwitches: [RadioSwitch] {
        names(in: "/sys/class/rfkill").compactMap { entry in
            let folder = "/sys/class/rfkill/\(entry)"
            guard text("\(folder)/type") == "bluetooth" else { return nil }
            let block: AdapterProblem.RadioBlock? =
                text("\(folder)/hard") == "1" ? .hardware : text("\(folder)/soft") == "1" ? .software : nil
            return RadioSwitch(name: text("\(folder)/name") ?? entry, block: block)
        }
    }

    /// Returns what blocks an adapter: its own switch, or one of the machine's.
    func block(of index: UInt16) -> AdapterProblem.RadioBlock? { radioSwitches.block(of: index) }

    /// The processes that have HCI sockets, by number and name, as far as this process is allowed to see
    /// them.
    var socketHolders: [(process: Int32, name: String)] {
        // The columns: sk RefCnt Rmem Wmem User Inode Parent.
        let inodes = Set(
            (text("/proc/net/hci") ?? "").split(separator: "\n").dropFirst().compactMap { line in
                line.split(separator: " ").dropFirst(5).first.map(String.init)
            })
        guard !inodes.isEmpty else { return [] }
        return processes.filter { process, _ in
            names(in: "/proc/\(process)/fd").contains { descriptor in
                guard let target = target(of: "/proc/\(process)/fd/\(descriptor)") else { return false }
                return target.hasPrefix("socket:[") && inodes.contains(String(target.dropFirst(8).dropLast()))
            }
        }
    }

    /// The process number of bluetoothd, BlueZ's daemon, which shares kernel adapters with this host; nil
    /// when it does not run.
    var bluetoothDaemon: Int32? { processes.first { $0.name == "bluetoothd" }?.process }

    /// Returns the process number of bluetoothd to a caller on an event loop, which would be blocked by the
    /// search through the processes.
    func bluetoothDaemonElsewhere() async -> Int32? {
        await Task.detached { bluetoothDaemon }.value
    }

    private var processes: [(process: Int32, name: String)] {
        names(in: "/proc").compactMap { folder in
            guard let process = Int32(folder), let name = text("/proc/\(folder)/comm") else { return nil }
            return (process, name)
        }
    }
}

/// The kernel's names of USB ports.
enum UsbPort {
    /// Returns whether `text` names a USB port: a bus, a port, and the ports of the hubs behind it.
    static func isOne(_ text: Substring) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, isNumber(parts[0]) else { return false }
        return parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy(isNumber)
    }

    private static func isNumber(_ text: Substring) -> Bool { UInt8(text).map { "\($0)" == text } ?? false }
}

extension KernelManagement.KnownAdapter {
    /// Returns the address by which other devices know the adapter and its links. An adapter without BR/EDR
    /// can have a random static address in place of the public one, which management does not report.
    func identity(_ files: SystemFiles) throws(BLEError) -> DeviceAddress {
        guard information.current.contains(.staticAddress) else {
            return DeviceAddress(information.address, type: .public)
        }
        guard let identity = files.identity(of: index) else {
            throw .unknownIdentity(path: SystemFiles.identityFile(of: index))
        }
        return identity
    }
}
