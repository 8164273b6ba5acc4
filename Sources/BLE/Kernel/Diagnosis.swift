import Glibc
import HCISocket

/// A capability of Linux processes (capabilities(7)) that Bluetooth needs.
public enum Capability: String, Hashable, Sendable, CaseIterable {
    /// Sends commands to controllers, and records packets.
    case netRaw = "CAP_NET_RAW"
    /// Powers adapters on and off, and opens the user channel.
    case netAdmin = "CAP_NET_ADMIN"

    /// The capability's bit in the kernel's sets.
    fileprivate var bit: Int {
        switch self {
        case .netAdmin: 12
        case .netRaw: 13
        }
    }
}

extension Capability: CustomStringConvertible {
    /// The name in capabilities(7), as in `CAP_NET_RAW`.
    public var description: String { rawValue }
}

/// The state of Bluetooth on this machine as this process finds it, and what the process is allowed to do.
public struct Diagnosis: Hashable, Sendable {
    /// A serial port to which a controller can be attached.
    public struct SerialPort: Hashable, Sendable {
        /// The path of the device's file.
        public var path: String
        /// Whether this process may read and write it.
        public var isAccessible: Bool

        package init(path: String, isAccessible: Bool) {
            self.path = path
            self.isAccessible = isAccessible
        }
    }

    /// The reason that the kernel's adapters cannot be listed, or nil when they can: the kernel has no
    /// Bluetooth, or refuses.
    public var listingError: BLEError?
    /// The capabilities that this process has.
    public var capabilities: Set<Capability>
    /// Whether the process can get no capabilities from its file (PR_SET_NO_NEW_PRIVS), as in many containers.
    public var hasNoNewPrivileges: Bool
    /// The process number of bluetoothd, if it runs.
    public var bluetoothDaemon: Int32?
    /// The rfkill switches of Bluetooth radios.
    public var switches: [RadioSwitch]
    /// The adapters of the kernel, with the user of each.
    public var adapters: [AdapterDescription]
    /// The serial ports to which a controller can be attached.
    public var serialPorts: [SerialPort]
    /// The processes that may be using an adapter exclusively, through the user channel. The kernel reports
    /// only that there is one, not which.
    public var userChannelHolders: [AdapterProblem.Holder.Process]

    package init(
        listingError: BLEError? = nil, capabilities: Set<Capability> = [],
        hasNoNewPrivileges: Bool = false, bluetoothDaemon: Int32? = nil, switches: [RadioSwitch] = [],
        adapters: [AdapterDescription] = [], serialPorts: [SerialPort] = [],
        userChannelHolders: [AdapterProblem.Holder.Process] = []
    ) {
        self.listingError = listingError
        self.capabilities = capabilities
        self.hasNoNewPrivileges = hasNoNewPrivileges
        self.bluetoothDaemon = bluetoothDaemon
        self.switches = switches
        self.adapters = adapters
        self.serialPorts = serialPorts
        self.userChannelHolders = userChannelHolders
    }

    /// Inspects this machine. Changes nothing and needs no capability.
    public static func make(on loop: EventLoop = .shared) async -> Diagnosis {
        var diagnosis = Diagnosis(SystemFiles())
        do throws(BLEError) {
            diagnosis.adapters = try await Adapter.list(on: loop)
        } catch {
            diagnosis.listingError = error
        }
        return diagnosis
    }

    /// Reads the capabilities of the process, bluetoothd, the radio switches and the serial ports.
    init(_ files: SystemFiles) {
        let effective = UInt64(files.processStatus("CapEff"), radix: 16) ?? 0
        let ports = files.names(in: "/dev").filter { name in
            ["ttyACM", "ttyUSB", "ttyAMA", "serial"].contains { name.hasPrefix($0) && name != $0 }
        }
        self.init(
            capabilities: Set(Capability.allCases.filter { effective >> $0.bit & 1 == 1 }),
            hasNoNewPrivileges: files.hasNoNewPrivileges, bluetoothDaemon: files.bluetoothDaemon,
            switches: files.radioSwitches,
            serialPorts: ports.map {
                SerialPort(path: "/dev/\($0)", isAccessible: files.mayUse("/dev/\($0)"))
            }, userChannelHolders: AdapterSpecification.KernelAdapter.userChannelHolders(files))
    }
}

extension Diagnosis {
    /// Whether this process cannot get capabilities from a file.
    package static var hasNoNewPrivileges: Bool { SystemFiles().hasNoNewPrivileges }
}

extension SystemFiles {
    /// Returns what the kernel reports of this process under a name; empty without it.
    fileprivate func processStatus(_ name: String) -> String {
        let status = (text("/proc/self/status") ?? "").split(separator: "\n")
        let line = status.first { $0.hasPrefix(name + ":") }?.dropFirst(name.count + 1) ?? ""
        return String(line.drop { $0 == " " || $0 == "\t" })
    }

    fileprivate var hasNoNewPrivileges: Bool { processStatus("NoNewPrivs") == "1" }

    /// Whether this process may read and write a file.
    fileprivate func mayUse(_ path: String) -> Bool { access(root + path, R_OK | W_OK) == 0 }
}
