import BLECore
import HCI
import SystemPackage

/// A port for whole packets to and from another endpoint: a controller, an L2CAP channel, a management
/// socket. The owner does not depend on whether that endpoint is a descriptor, another object of the process
/// or a test.
///
/// Everything happens on one event loop. The owner starts the port and closes it. A port never calls a
/// handler within a call from its owner, so the owner's state is consistent whenever a handler is called.
public protocol PacketPort: AnyObject, Sendable {
    /// Whether `send` can be called. While this is false, keep the packets to send until `writable` is
    /// called.
    var isWritable: Bool { get }

    /// Starts to deliver packets to `handlers`, on the loop and never within this call.
    func start(_ handlers: PacketPortHandlers) throws(PortError)

    /// Sends one packet, which is always accepted whole; check `isWritable` afterwards. If that ends the
    /// port, `closed` is called in a later turn of the loop.
    func send(_ packet: Span<UInt8>)

    /// The maximum size of a packet that `send` accepts, in octets.
    var maximumSent: Int { get }

    /// Delivers the packets that have already arrived, within this call. Has no effect within a handler's
    /// call, or if the port stores no packets.
    func readNow()

    /// Closes the port; no handler is called afterwards. Further calls have no effect.
    func close()

    /// Closes the port after delivering the packets that have already arrived. The same as `close` if the
    /// port stores no packets.
    func closeAfterReading()
}

extension PacketPort {
    /// The default: `Int.max` octets, so no limit.
    public var maximumSent: Int { .max }

    /// Does nothing, because the port stores no packets.
    public func readNow() {}

    /// Closes the port, because it stores no packets.
    public func closeAfterReading() { close() }
}

/// The handlers that a port calls on its loop.
public struct PacketPortHandlers: Sendable {
    /// Called with one whole packet, which is valid during the call.
    public var receive: @Sendable (Span<UInt8>) -> Void
    /// Called when `send` accepts packets again.
    public var writable: @Sendable () -> Void
    /// Called once when the port ends by itself; no handler is called after it.
    public var closed: @Sendable (PortError) -> Void
    /// Called when the port has reset the other side to find the packet boundaries again. The other side has
    /// lost its configuration.
    public var wasReset: @Sendable () -> Void
    /// Called with the number of received packets that were dropped since the last call, because they came
    /// faster than they were read.
    public var lost: @Sendable (_ packets: Int) -> Void

    /// Creates the handlers for `start`. The event loop calls them.
    public init(
        receive: @escaping @Sendable (Span<UInt8>) -> Void,
        writable: @escaping @Sendable () -> Void,
        closed: @escaping @Sendable (PortError) -> Void,
        wasReset: @escaping @Sendable () -> Void = {},
        lost: @escaping @Sendable (_ packets: Int) -> Void = { _ in }
    ) {
        self.receive = receive
        self.writable = writable
        self.closed = closed
        self.wasReset = wasReset
        self.lost = lost
    }
}

/// The reason why a port could not be opened, or has ended.
public enum PortError: Error, Hashable, Sendable {
    /// The other side closed the connection.
    case ended
    /// The system call failed with this errno.
    case system(Errno, during: String)
    /// The folder of a socket is not used, because other users could replace the files in it.
    case folder(FolderError)
    /// Another process has held this file, which only one at a time can hold, for this time.
    case held(String, after: Duration)
    /// The host name is not an IP address; names are not looked up.
    case unresolved(String)
    /// The received data violates the protocol.
    case protocolViolation(Violation)

    /// How the received data violates its protocol.
    public indirect enum Violation: Hashable, Sendable {
        /// A packet has more octets than the maximum.
        case oversized(maximum: Int)
        /// An HCI packet on a serial line stops after that many octets.
        case incomplete(octets: Int)
        /// The octets on a line are not HCI packets.
        case framing(H4FramingError)
        /// Packets were lost for this reason, and the controller does not respond to the Reset that would
        /// restore the packet boundaries.
        case lost(Violation)
    }
}

extension PortError.Violation: CustomStringConvertible {
    /// The violation as a clause, such as "a packet of more than 255 octets came".
    public var description: String {
        switch self {
        case .oversized(let maximum): "a packet of more than \(maximum) octets came"
        case .incomplete(let octets): "an HCI packet on the line stops after \(octets) octets"
        case .framing(let error): "\(error)"
        case .lost(let reason): "\(reason), and the controller does not answer Reset"
        }
    }
}

extension PortError: CustomStringConvertible {
    /// The error as one line of text: "connect: Connection refused".
    public var description: String {
        switch self {
        case .ended: "the other side closed the connection"
        case .system(let errno, let call): "\(call): \(errno)"
        case .folder(let error): "\(error)"
        case .held(let path, let time): "\(path) has been held by another process for \(time)"
        case .unresolved(let host): "\(host) cannot be resolved: give an IP address or localhost"
        case .protocolViolation(let violation): "\(violation)"
        }
    }

    /// The errno that caused the error, if any.
    public var errno: Errno? {
        if case .system(let errno, _) = self { errno } else { nil }
    }

    package init(_ error: FolderError) {
        if case .system(let errno, let call) = error {
            self = .system(errno, during: call)
        } else {
            self = .folder(error)
        }
    }
}

extension PortError {
    /// Returns the system's text for an error number.
    package static func text(errno number: Int32) -> String { "\(Errno(rawValue: number))" }
}
