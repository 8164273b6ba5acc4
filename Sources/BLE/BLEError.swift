import ATT
import BLECore
import GATTClient
import GATTServer
import HCI
import HCISocket
import SMP
import SystemPackage

/// Everything that can go wrong, with its numbers. Local misuse (`limit`, `invalidRequest`) and a peer that
/// misbehaves (`peer`) are different cases.
public enum BLEError: Error, Hashable, Sendable {
    /// The adapter is missing or cannot be used.
    case adapter(AdapterProblem)
    /// The process lacks a capability (capabilities(7)) for what it tried.
    case permission(capability: String, operation: String)
    /// The process may not read and write a device's file.
    case fileAccess(path: String)
    /// The controller refused a command.
    case hci(HCIStatus, command: HCIOpcode)
    /// The controller did not answer a command in time.
    case controllerSilent(command: HCIOpcode)
    /// The controller's answer to a command makes no sense; the text says what.
    case controllerMisbehaves(command: HCIOpcode, String)
    /// The peer's server refused a request.
    case att(ATTErrorResponse)
    /// The peer's server answered with something that makes no sense; the text says what.
    case peer(String)
    /// The peer did not take part in pairing or encryption that the request needs.
    case security(ATTErrorCode)
    /// Devices did not pair.
    case pairing(PairingFailure)
    /// Devices cannot pair, or not now.
    case cannotPair(PairingImpossible)
    /// The peer has no key any more for the bond with it. It is not paired anew without being asked for: somebody
    /// may have taken its place. Who removes the bond may pair again.
    case bondLost(DeviceAddress)
    /// The kernel paired, and that failed; it tells no more than this.
    case kernelPairing(ManagementStatus)
    /// The link could not be encrypted. PIN or Key Missing: the peer has no key of it any more.
    case encryption(HCIStatus)
    /// The link ended.
    case disconnected(DisconnectReason)
    /// So many packets of callers, writes without response and notifications, had been taken and were not sent: the link
    /// took no data for 2 s, or not all within 10 s, or it ended before.
    case unsent(Int)
    /// Another program has the link to that device, and only one can use it: on kernel adapters.
    case busy(DeviceAddress)
    /// The connection did not come about.
    case connectFailed(DisconnectReason)
    /// The periodic train of an advertising set has fallen silent, or the controller has forgotten it.
    case syncLost(DeviceAddress, set: UInt8)
    /// A limit of the protocol or of this library: what it is called, where it stands, and what met it.
    case limit(String, limit: Int, value: Int)
    /// Connection parameters are out of range.
    case timing(TimingError)
    /// The peer, or its controller, does not want the connection parameters that it was asked for.
    case parametersRefused
    /// The server's database has changed since the attribute with this handle was found, so nothing was sent
    /// to it, or the server refused it for that reason: discover again.
    case databaseChanged(AttributeHandle)
    /// A stream's buffer was full, by this limit, and its policy is to end then.
    case overflow(BufferLimit)
    /// The request makes no sense as it is; the text says why.
    case invalidRequest(String)
    /// Nothing was found.
    case notFound(String)
    /// The time limit passed.
    case timedOut(String, after: Duration)
    /// The task was cancelled.
    case cancelled
    /// The services cannot be published as they are described.
    case database(DatabaseError)
    /// What is to be advertised does not fit.
    case advertising(AdvertisingPlanError)
    /// The kernel refused a management command.
    case managementRefused(ManagementStatus)
    /// Bonds cannot be read from the disk, or written to it.
    case bonds(StateError)
    /// There is no bond with that peer, or none for which it has taken this host's signing key: it could not check what is
    /// signed.
    case noSigningKey(DeviceAddress)
    /// All counters of signed writes with the present key are used; a new pairing makes a new key.
    case countersUsedUp(BondID)
    /// What a manager is to bring back at its next start cannot be kept, or not under that name.
    case restoration(RestorationError)
    /// A system call or stream failed.
    case port(PortError)
}

/// Why an adapter cannot be used.
public enum AdapterProblem: Hashable, Sendable {
    /// There is no such adapter.
    case missing(String)
    /// The kernel has no Bluetooth.
    case noBluetooth
    /// The kernel has Bluetooth and this process does not get at it: it runs in another network namespace, as
    /// in a container, or in a sandbox that keeps the sockets from it.
    case isolated
    /// rfkill holds the radio off.
    case blocked(RadioBlock)
    /// The adapter is off and stays so.
    case poweredOff
    /// The driver cannot switch it on; the text says which and how the kernel refuses. Missing firmware shows
    /// so.
    case cannotPower(String)
    /// The driver has not set it up yet, or cannot: missing firmware shows so.
    case notSetUp(String)
    /// Somebody else has it; the text says who.
    case inUse(String)
    /// bluetoothd runs, with this process number: it pairs on the kernel's adapters, and keeps their bonds.
    case pairedBy(bluetoothDaemon: Int32)
    /// It does not do what is needed; the text says what.
    case unsupported(String)
    /// It went away while it was used, or its driver gave up.
    case removed
    /// The stream to the controller was closed at its other end; the text says whose that is.
    case hungUp(String)
    /// The controller has failed, and nothing has brought it back.
    case failed(AdapterFault)
    /// The adapter was closed by its owner.
    case closed
}

/// What holds a radio off.
public enum RadioBlock: Hashable, Sendable {
    /// A setting, which `rfkill unblock` changes.
    case software
    /// A switch or key of the machine.
    case hardware
}

/// Why a link ended: the controller's reason where it is known.
public enum DisconnectReason: Hashable, Sendable {
    /// The reason that the controller gave.
    case status(HCIStatus)
    /// Only the kernel's errno is known: seeing HCI events needs CAP_NET_RAW.
    case errno(Int32)
    /// Nobody said.
    case unknown
}

extension DisconnectReason: CustomStringConvertible {
    /// One phrase.
    public var description: String {
        switch self {
        case .status(let status): "\(status)"
        case .errno(Errno.noFunction.rawValue): "a reason that the kernel has no errno for"
        case .errno(let number): "\(PortError.text(errno: number))"
        case .unknown: "unknown reason"
        }
    }
}

extension BLEError: CustomStringConvertible {
    /// One line for a person: what failed and why.
    public var description: String {
        switch self {
        case .adapter(let problem): "\(problem)"
        case .permission(let capability, let operation): "\(operation) needs \(capability)"
        case .fileAccess(let path): "this user may not read and write \(path)"
        case .hci(let status, let command): "\(command): \(status)"
        case .controllerSilent(let command): "\(command): no answer from the controller"
        case .controllerMisbehaves(let command, let text): "\(command): the controller misbehaves: \(text)"
        case .att(let response): "\(response)"
        case .peer(let text): "the peer misbehaves: \(text)"
        case .security(let code): "\(code)"
        case .pairing(let failure): "pairing failed: \(failure)"
        case .cannotPair(let reason): "cannot pair: \(reason)"
        case .bondLost(let peer): "\(peer) has lost the bond: it has no key any more"
        case .kernelPairing(let status): "pairing failed: \(status)"
        case .encryption(let status): "the link cannot be encrypted: \(status)"
        case .disconnected(let reason): "link lost: \(reason)"
        case .unsent(let count):
            "\(count) \(count == 1 ? "packet was" : "packets were") not sent: the link takes no more data"
        case .busy(let peer): "another program has the link to \(peer)"
        case .connectFailed(let reason): "cannot connect: \(reason)"
        case .syncLost(let advertiser, let set): "the periodic train of \(advertiser), set \(set), is lost"
        case .limit(let name, let limit, let value): "\(name) is at most \(limit), not \(value)"
        case .timing(let error): "\(error)"
        case .parametersRefused: "the peer refuses the connection parameters"
        case .databaseChanged(let handle):
            "the device's database has changed since attribute \(handle) was found"
        case .overflow(let limit): "more than \(limit) waited to be taken"
        case .invalidRequest(let text): text
        case .noSigningKey(let peer):
            "\(peer) cannot check signatures: only a bonded peer that has taken this host's signing key can"
        case .notFound(let text): text
        case .timedOut(let what, let duration): "\(what) took longer than \(duration)"
        case .cancelled: "cancelled"
        case .database(let error): "\(error)"
        case .advertising(let error): "\(error)"
        case .managementRefused(let status): "the kernel refuses: \(status)"
        case .bonds(let error): "\(error)"
        case .countersUsedUp(let id): "all counters of signed writes of the bond with \(id) are used up"
        case .restoration(let error): "\(error)"
        case .port(let error): "\(error)"
        }
    }
}

extension AdapterProblem: CustomStringConvertible {
    /// One line for a person.
    public var description: String {
        switch self {
        case .missing(let name): "there is no adapter \(name)"
        case .noBluetooth: "the kernel has no Bluetooth (AF_BLUETOOTH)"
        case .isolated:
            "the kernel has Bluetooth, but not in this network namespace or sandbox (AF_BLUETOOTH)"
        case .blocked(.software): "the radio is switched off by rfkill"
        case .blocked(.hardware): "the radio is switched off by a switch or key of the machine"
        case .poweredOff: "the adapter is powered off"
        case .cannotPower(let what): "the driver cannot switch it on (\(what))"
        case .notSetUp(let name): "the driver has not set \(name) up"
        case .inUse(let who): "the adapter is in use by \(who)"
        case .pairedBy(let daemon): "bluetoothd (process \(daemon)) pairs on it and keeps the bonds"
        case .unsupported(let what): "the adapter does not support \(what)"
        case .removed: "the adapter was removed"
        case .hungUp(let who): "\(who)"
        case .failed(let fault): "\(fault), and nothing has brought it back"
        case .closed: "the adapter was closed"
        }
    }
}
