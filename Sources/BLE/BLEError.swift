import ATT
import BLECore
import GATTClient
import GATTServer
import HCI
import HCISocket

/// Everything that can go wrong, with its numbers. Local misuse (`limit`, `invalidRequest`) and a peer that
/// misbehaves (`peer`) are different cases.
public enum BLEError: Error, Hashable, Sendable {
    /// The adapter is missing or cannot be used.
    case adapter(AdapterProblem)
    /// The process lacks a capability (capabilities(7)) for what it tried.
    case permission(capability: String, operation: String)
    /// The controller refused a command.
    case hci(HCIStatus, command: HCIOpcode)
    /// The controller did not answer a command in time.
    case controllerSilent(command: HCIOpcode)
    /// The peer's server refused a request.
    case att(ATTErrorResponse)
    /// The peer's server answered with something that makes no sense; the text says what.
    case peer(String)
    /// The peer did not take part in pairing or encryption that the request needs.
    case security(ATTErrorCode)
    /// The link ended.
    case disconnected(DisconnectReason)
    /// The connection did not come about.
    case connectFailed(DisconnectReason)
    /// A limit of the protocol or of this library: what it is called, where it stands, and what met it.
    case limit(String, limit: Int, value: Int)
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
    case managementRefused(Management.Status)
    /// A system call or stream failed.
    case port(PortError)
}

/// Why an adapter cannot be used.
public enum AdapterProblem: Hashable, Sendable {
    /// There is no such adapter.
    case missing(String)
    /// This machine, or this network namespace, has no Bluetooth sockets.
    case noBluetooth
    /// The radio is blocked by rfkill.
    case blocked
    /// The adapter is off and stays so.
    case poweredOff
    /// Somebody else has it; the text says who.
    case inUse(String)
    /// It does not do what is needed; the text says what.
    case unsupported(String)
    /// It went away while it was used, or its driver gave up.
    case removed
    /// The adapter was closed by its owner.
    case closed
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
        case .hci(let status, let command): "\(command): \(status)"
        case .controllerSilent(let command): "\(command): no answer from the controller"
        case .att(let response): "\(response)"
        case .peer(let text): "the peer misbehaves: \(text)"
        case .security(let code): "\(code)"
        case .disconnected(let reason): "link lost: \(reason)"
        case .connectFailed(let reason): "cannot connect: \(reason)"
        case .limit(let name, let limit, let value): "\(name) is at most \(limit), not \(value)"
        case .databaseChanged(let handle):
            "the device's database has changed since attribute \(handle) was found"
        case .overflow(let limit): "more than \(limit) waited to be taken"
        case .invalidRequest(let text): text
        case .notFound(let text): text
        case .timedOut(let what, let duration): "\(what) took longer than \(duration)"
        case .cancelled: "cancelled"
        case .database(let error): "\(error)"
        case .advertising(let error): "\(error)"
        case .managementRefused(let status): "the kernel refuses: \(status)"
        case .port(let error): "\(error)"
        }
    }
}

extension AdapterProblem: CustomStringConvertible {
    /// One line for a person.
    public var description: String {
        switch self {
        case .missing(let name): "there is no adapter \(name)"
        case .noBluetooth: "this system has no Bluetooth sockets (AF_BLUETOOTH)"
        case .blocked: "the radio is blocked by rfkill"
        case .poweredOff: "the adapter is powered off"
        case .inUse(let who): "the adapter is in use by \(who)"
        case .unsupported(let what): "the adapter does not support \(what)"
        case .removed: "the adapter was removed"
        case .closed: "the adapter was closed"
        }
    }
}
