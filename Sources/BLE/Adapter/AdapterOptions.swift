import BLECore
import HCI
import HCISocket

/// Options of `Adapter.open`: its event loop, privacy, security, recovery, and faults for tests.
public struct AdapterOptions: Sendable {
    /// The event loop that the adapter runs on.
    public var loop: EventLoop
    /// Receives every packet, for a recording. On kernel adapters these include the packets of the kernel and of
    /// other programs, from the monitor channel.
    public var capture: CaptureSink?
    /// The socket of the air that virtual adapters join; nil for the one at $BLETOOL_AIR or, without that
    /// variable, the user's own.
    public var airPath: String?
    /// Starts an air at a path when none runs. The default runs it in this process, so that it ends with
    /// the process.
    public var airLauncher: AirLauncher
    /// Whether a controller that has failed is recovered at once, which ends its links. If false, recovery waits
    /// until the links have ended: a controller that answers no command may still carry their data. If nothing is
    /// received for 32 s, and then another command is not answered, a controller of this host is recovered
    /// although it has links.
    public var recoversWithLinks: Bool
    /// Whether the host uses the extended commands for advertising, scanning and connecting with a controller
    /// that has them. A controller that has received a command of one family refuses those of the other until it
    /// is reset (Core Specification 5.4, Vol 4, Part E, 3.1.1), so the choice holds for as long as the adapter is
    /// open. False is for controllers whose extended commands do not work. On kernel adapters the kernel chooses.
    public var usesExtendedCommands: Bool
    /// How the adapter pairs, and where it keeps bonds.
    public var security: SecurityOptions
    /// Whether the adapter hides its identity address from peers.
    public var privacy: PrivacyOptions
    /// The number of advertising sets that scans remember, 1 or more. The last data of each set are kept, so that
    /// an advertisement and its scan response are reported together, and repetitions are recognized. Beyond this
    /// number of sets, or beyond this number of KiB of data in all sets together, the least recently received
    /// sets are forgotten, which `ScanStatistics.evictions` counts.
    public var rememberedDevices = 4096
    /// Faults between host and controller, for tests. Kernel adapters do not support them, because the kernel
    /// moves their packets.
    public var transportFaults: [TransportFault] = []
    /// The kernel that has the adapters.
    package var kernel: any Kernel = LinuxKernel()
    /// The seed of everything that the host chooses at random, for tests; nil for the system's random numbers. With a seed
    /// the keys are predictable, hence `package`.
    package var seed: UInt64?

    /// Creates options: by default the shared loop, no capture, and the user's own air.
    public init(
        loop: EventLoop = .shared, capture: CaptureSink? = nil, airPath: String? = nil,
        airLauncher: AirLauncher = .inProcess, recoversWithLinks: Bool = false,
        usesExtendedCommands: Bool = true, security: SecurityOptions = SecurityOptions(),
        privacy: PrivacyOptions = .off
    ) {
        self.loop = loop
        self.capture = capture
        self.airPath = airPath
        self.airLauncher = airLauncher
        self.recoversWithLinks = recoversWithLinks
        self.usesExtendedCommands = usesExtendedCommands
        self.security = security
        self.privacy = privacy
    }
}

/// Receives every HCI packet of an adapter, in H4 form, on the adapter's loop. It must not block.
public typealias CaptureSink = @Sendable (HCIDirection, Span<UInt8>) -> Void
