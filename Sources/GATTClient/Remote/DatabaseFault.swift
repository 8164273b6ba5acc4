import ATT
import BLECore

/// A part of a server's database that violates the specification, or that the server refused to show. Discovery has
/// corrected it or left it out.
public struct DatabaseFault: Hashable, Sendable {
    /// The violation, or the refusal.
    public enum Problem: Hashable, Sendable {
        /// The attribute violates the specification in this way.
        case misbehavior(Misbehavior)
        /// The server refused to show the attributes from there on, up to the end of the service or characteristic.
        case refused(ATTErrorResponse)
    }

    /// The handle of the attribute.
    public var handle: AttributeHandle
    /// The type of the service or characteristic that is declared there, if it is known.
    public var uuid: BluetoothUUID?
    /// Why this is a fault.
    public var problem: Problem

    package init(_ handle: AttributeHandle, _ uuid: BluetoothUUID? = nil, _ problem: Problem) {
        self.handle = handle
        self.uuid = uuid
        self.problem = problem
    }
}

extension DatabaseFault {
    /// Whether the server refused because the link is not secure enough, or because of who this client is.
    package var isForSecurity: Bool {
        if case .refused(let error) = problem { error.code.isForSecurity } else { false }
    }
}

extension DatabaseFault: CustomStringConvertible {
    /// One line: "2a00 at 0x0011: the characteristic at 0x0011 cannot have its value at 0x0016".
    public var description: String { "\(uuid.map { "\($0) at " } ?? "")\(handle): \(problem)" }
}

extension DatabaseFault.Problem: CustomStringConvertible {
    /// A clause: the violation, or the server's error.
    public var description: String {
        switch self {
        case .misbehavior(let misbehavior): "\(misbehavior)"
        case .refused(let error): "the server refuses to show more: \(error)"
        }
    }
}
