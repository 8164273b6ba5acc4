import BLECore
import HCI
import SystemPackage

/// Whole packets to and from something: a controller, an L2CAP channel, a management socket. Whether a
/// descriptor, another object of the process or a test is behind it is not the owner's business.
///
/// Everything happens on one event loop. The owner starts the port and closes it. A port calls no handler from within a
/// call of its owner's, so the owner's state is whole whenever one is called.
public protocol PacketPort: AnyObject, Sendable {
    /// Whether `send` may be called. While false, keep what is to be sent; `writable` will be called.
    var isWritable: Bool { get }

    /// Starts to deliver to `handlers`, on the loop and never from within this call.
    func start(_ handlers: PacketPortHandlers) throws(PortError)

    /// Sends one packet. It is always taken whole; afterwards look at `isWritable`. If that ends the port, `closed` is
    /// called in a later turn of the loop.
    func send(_ packet: Span<UInt8>)

    /// The most octets of a packet that `send` takes.
    var maximumSent: Int { get }

    /// Hands out the packets that have come already, from within this call, but not from within a handler's;
    /// of a port that keeps none, nothing.
    func readNow()

    /// Ends the port; no handler is called afterwards. More calls do nothing.
    func close()

    /// Ends the port after the packets that have come already; of a port that keeps none, as `close`.
    func closeAfterReading()
}

extension PacketPort {
    /// No limit by default: `Int.max` octets.
    public var maximumSent: Int { .max }

    /// Does nothing: the port keeps no packets.
    public func readNow() {}

    /// Ends the port: it keeps no packets.
    public func closeAfterReading() { close() }
}

/// What a port calls, on its loop.
public struct PacketPortHandlers: Sendable {
    /// One whole packet, valid during the call.
    public var receive: @Sendable (Span<UInt8>) -> Void
    /// Called when `send` accepts packets again.
    public var writable: @Sendable () -> Void
    /// The port ended by itself; called once, and nothing after it.
    public var closed: @Sendable (PortError) -> Void
    /// The port reset the other side to find the packet boundaries again: all that the other side was
    /// configured with is lost.
    public var wasReset: @Sendable () -> Void

    /// Creates the handlers for `start`. The event loop calls them.
    public init(
        receive: @escaping @Sendable (Span<UInt8>) -> Void,
        writable: @escaping @Sendable () -> Void,
        closed: @escaping @Sendable (PortError) -> Void,
        wasReset: @escaping @Sendable () -> Void = {}
    ) {
        self.receive = receive
        self.writable = writable
        self.closed = closed
        self.wasReset = wasReset
    }
}

/// Why a port could not be opened, or ended.
public enum PortError: Error, Hashable, Sendable {
    /// The other side closed the connection.
    case ended
    /// A system call failed with this errno.
    case system(Errno, during: String)
    /// A host's name that is no IP address; names are not looked up.
    case unresolved(String)
    /// What comes is not what it should be.
    case protocolViolation(Violation)

    /// How what comes breaks its protocol.
    public indirect enum Violation: Hashable, Sendable {
        /// A packet has more octets than any may have.
        case oversized(maximum: Int)
        /// An HCI packet on a line stops after so many octets.
        case incomplete(octets: Int)
        /// The octets of a line are no HCI packets.
        case framing(H4FramingError)
        /// Packets were lost for this reason, and the controller does not answer the Reset after which the next one
        /// would begin.
        case lost(Violation)
    }
}

extension PortError.Violation: CustomStringConvertible {
    /// A clause such as "a packet of more than 255 octets came".
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
    /// One line: "connect: Connection refused".
    public var description: String {
        switch self {
        case .ended: "the other side closed the connection"
        case .system(let errno, let call): "\(call): \(errno)"
        case .unresolved(let host): "\(host) cannot be resolved: give an IP address or localhost"
        case .protocolViolation(let violation): "\(violation)"
        }
    }

    /// The errno behind it, if any.
    public var errno: Errno? {
        if case .system(let errno, _) = self { errno } else { nil }
    }
}

extension PortError {
    /// The system's text for an error number.
    package static func text(errno number: Int32) -> String { "\(Errno(rawValue: number))" }
}
