import BLECore
import HCI
import HCISocket
import SystemPackage

/// Why an adapter cannot be used.
public enum AdapterProblem: Hashable, Sendable {
    /// The adapter does not exist.
    case missing(AdapterSpecification)
    /// The kernel has no adapter at all.
    case noAdapter
    /// Nothing listens at the address of a stream, or the connection was not accepted in time.
    case unreachable(StreamAddress, PortError)
    /// The file is not a serial port.
    case notSerial(path: String)
    /// The kernel has no Bluetooth.
    case noBluetooth
    /// The kernel has Bluetooth, but this process cannot reach it: it runs in another network namespace, as
    /// in a container, or in a sandbox that denies it the sockets.
    case isolated
    /// An rfkill switch disables the radio.
    case blocked(RadioBlock)
    /// The adapter is off, and stays off.
    case poweredOff
    /// The driver of the adapter with this index cannot switch it on, for example because firmware is missing.
    case cannotPower(UInt16, PowerFailure)
    /// The driver of the adapter with this index has not set it up yet, or cannot, for example because firmware
    /// is missing.
    case notSetUp(UInt16)
    /// Another program uses the adapter.
    case inUse(Holder)
    /// bluetoothd is running, with this process ID: it manages pairing on the kernel's adapters, and keeps
    /// their bonds.
    case pairedBy(bluetoothDaemon: Int32)
    /// The adapter, or the kernel for it, lacks a feature.
    case unsupported(Feature)
    /// The adapter was removed while it was in use, or its driver gave up.
    case removed
    /// The stream to the controller has ended.
    case hungUp(HangUp)
    /// The controller has failed, and no recovery step has succeeded. Opening `user:hciN` again switches the
    /// controller's power off and on, which no recovery step does there.
    case failed(AdapterFault)
    /// The adapter was closed by its owner.
    case closed
}

extension AdapterProblem {
    /// The kind of rfkill switch that disables a radio.
    public enum RadioBlock: Hashable, Sendable {
        /// A setting, which `rfkill unblock` changes.
        case software
        /// A switch or key of the machine.
        case hardware
    }

    /// How switching on an adapter failed.
    public enum PowerFailure: Hashable, Sendable {
        /// The kernel's management socket refuses it.
        case management(ManagementStatus)
        /// A system call failed with this error.
        case system(PortError)
    }

    /// The program, or the part of the kernel, that uses an adapter.
    public enum Holder: Hashable, Sendable {
        /// The process with this ID.
        case process(Int32)
        /// One of these processes uses the adapter exclusively, through the HCI user channel. The kernel does not
        /// report which process that is; empty when no process is known that could be it.
        case userChannel([Process])
        /// A process that has the file of the serial port open.
        case serialPort(path: String)
        /// A program that switches the adapter with this index on whenever it is switched off.
        case powerSwitch(UInt16)
        /// A process, if it is known, that has a server on the adapter: the kernel gives the links of
        /// centrals to only one.
        case server(process: Int32?)
        /// The kernel's own advertising, or another program's, on a controller that supports only one
        /// advertisement.
        case advertising

        /// A process on this machine.
        public struct Process: Hashable, Sendable {
            /// The name of the process, as the kernel shows it.
            public var name: String
            /// The identifier of the process (PID).
            public var id: Int32

            /// Creates the description of a process from its name and ID.
            package init(name: String, id: Int32) { (self.name, self.id) = (name, id) }
        }
    }

    /// A feature that an adapter does not have.
    public enum Feature: Hashable, Sendable {
        /// Bluetooth Low Energy, on a kernel adapter.
        case lowEnergy
        /// Advertising with the extended commands (Core Specification 5.4, Vol 6, Part B, 4.6.12).
        case extendedAdvertising
        /// Scanning with the extended commands (Core Specification 5.4, Vol 6, Part B, 4.6.12).
        case extendedScanning
        /// Advertising whose data are sent on this PHY.
        case advertising(on: PHY)
        /// Scanning on this PHY.
        case scanning(on: PHY)
        /// Links that use this PHY.
        case phy(PHY)
        /// A limit on the number of advertising events.
        case advertisingEventCount
        /// Periodic advertising: sending a train, or following one.
        case periodicAdvertising
        /// Following a periodic train on an adapter that the kernel shares: Linux does not pass on the events
        /// of the train, and ends a synchronization that it has not begun. On the user channel it is
        /// possible.
        case kernelPeriodicSync
        /// Private addresses that this program generates, on an adapter whose address the kernel chooses.
        case privateAddresses
        /// Transport faults, on an adapter whose packets the kernel moves.
        case transportFaults
        /// New keys for a link that the kernel encrypts.
        case keyRefresh
        /// Commands that name a link: the kernel does not report its handle.
        case linkCommands
        /// Pairing: the kernel supports it only on an adapter that its management socket has switched on.
        case pairing
        /// Pairing with out-of-band data.
        case outOfBandPairing
        /// A passkey that this program chooses: the kernel shows random ones.
        case fixedPasskey
        /// LE Secure Connections on a kernel adapter, when legacy pairing is not allowed.
        case secureConnections
        /// Names of virtual adapters: the air at the other end does not support them.
        case adapterNames
    }

    /// Why the stream to a controller has ended.
    public enum HangUp: Hashable, Sendable {
        /// The process that runs the virtual air has ended.
        case air
        /// The virtual air has closed the stream at once: it accepts no more controllers, or has ended.
        case airAtOnce
        /// The virtual air has not answered within this time.
        case airSilent(Duration)
        /// The port that the caller supplied was closed at its other end.
        case port
        /// The controller's end closed the connection.
        case stream
        /// The controller's end closed the connection before it answered anything, as a full air does.
        case streamAtOnce
    }
}

extension AdapterProblem: CustomStringConvertible {
    /// A one-line description of the problem.
    public var description: String {
        switch self {
        case .missing(.serial(let path, _, _)): "there is no serial port \(path)"
        case .missing(let specification): "there is no adapter \(specification)"
        case .noAdapter: "the kernel has no adapter"
        case .unreachable(let address, .system(.timedOut, _)): "nothing answers at \(address)"
        case .unreachable(let address, let error): "nothing listens at \(address) (\(error))"
        case .notSerial(let path): "\(path) is not a serial port"
        case .noBluetooth: "the kernel has no Bluetooth (AF_BLUETOOTH)"
        case .isolated:
            "the kernel has Bluetooth, but not in this network namespace or sandbox (AF_BLUETOOTH)"
        case .blocked(.software): "the radio is switched off by rfkill"
        case .blocked(.hardware): "the radio is switched off by a hardware switch or key"
        case .poweredOff: "the adapter is powered off"
        case .cannotPower(let index, .management(let status)):
            "the driver cannot power on the adapter (hci\(index): \(status))"
        case .cannotPower(let index, .system(let error)):
            "the driver cannot power on the adapter (hci\(index): \(error))"
        case .notSetUp(let index): "the driver has not set hci\(index) up"
        case .inUse(let holder): "the adapter is in use by \(holder)"
        case .pairedBy(let daemon): "bluetoothd (process \(daemon)) pairs on this adapter and keeps its bonds"
        case .unsupported(let feature): "the adapter does not support \(feature)"
        case .removed: "the adapter was removed"
        case .hungUp(let reason): "\(reason)"
        case .failed(let fault): "\(fault), and recovery failed"
        case .closed: "the adapter was closed"
        }
    }
}

extension AdapterProblem.Holder: CustomStringConvertible {
    /// One phrase: "process 4711".
    public var description: String {
        switch self {
        case .process(let id): "process \(id)"
        case .server(let process):
            "the server of \(process.map { "process \($0)" } ?? "another process"), which accepts centrals"
        case .userChannel(let processes):
            (processes.isEmpty
                ? "another process"
                : processes.map { "\($0.name) (process \($0.id))" }.joined(separator: " or "))
                + ", which uses it exclusively (HCI user channel)"
        case .serialPort(let path): "another process that has \(path) open"
        case .powerSwitch(let index): "another program that switches hci\(index) on again"
        case .advertising:
            "the advertising of the kernel or another program: the controller sends only one advertisement"
        }
    }
}

extension AdapterProblem.Feature: CustomStringConvertible {
    /// One phrase: "advertising on LE Coded".
    public var description: String {
        switch self {
        case .lowEnergy: "Bluetooth Low Energy"
        case .extendedAdvertising: "extended advertising"
        case .extendedScanning: "extended scanning"
        case .advertising(let phy): "advertising on \(phy.phrase)"
        case .scanning(let phy): "scanning on \(phy.phrase)"
        case .phy(let phy): phy.phrase
        case .advertisingEventCount: "counting advertising events"
        case .periodicAdvertising: "periodic advertising"
        case .kernelPeriodicSync: "periodic synchronization, which the kernel terminates"
        case .privateAddresses: "private addresses of this program's own: the kernel chooses the address"
        case .transportFaults: "transport faults: the kernel moves its packets"
        case .keyRefresh: "new keys for a link that the kernel encrypts"
        case .linkCommands: "commands for this link, whose handle the kernel does not report"
        case .pairing: "pairing unless the kernel's management socket has switched it on"
        case .outOfBandPairing: "pairing out of band"
        case .fixedPasskey: "a passkey of this program's own: the kernel shows random ones"
        case .secureConnections: "LE Secure Connections"
        case .adapterNames: "names of virtual adapters"
        }
    }
}

extension PHY {
    /// The name of the PHY in a sentence: "LE 1M".
    var phrase: String {
        switch self {
        case .le1M: "LE 1M"
        case .le2M: "LE 2M"
        case .leCoded: "LE Coded"
        default: "\(self)"
        }
    }
}

extension AdapterProblem.HangUp: CustomStringConvertible {
    /// A clause: "the virtual air has ended".
    public var description: String {
        switch self {
        case .air: "the virtual air has ended"
        case .airAtOnce: "the virtual air accepts no more controllers, or has ended"
        case .airSilent(let limit): "the virtual air has not answered within \(limit.phrase)"
        case .port: "the other end of the port closed it"
        case .stream: "the other end closed the connection"
        case .streamAtOnce: "the other end closed the connection at once, as a full air does"
        }
    }
}
