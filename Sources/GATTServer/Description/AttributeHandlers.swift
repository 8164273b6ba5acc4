import ATT
import BLECore

/// Answers reads of an attribute. Runs where the request arrived, in the middle of the server's work: it
/// must neither block nor call the server back; what takes longer returns `.later`. An `ATTErrorCode` that
/// it throws is the answer, any other error is Unlikely Error.
public typealias ReadHandler = @Sendable (GATTReadRequest) throws -> GATTReadOutcome

/// Takes what is written to an attribute, before it is stored. Runs where the request arrived, in the middle
/// of the server's work: it must neither block nor call the server back; what takes longer returns `.later`.
/// An `ATTErrorCode` that it throws is the answer, any other error is Unlikely Error.
public typealias WriteHandler = @Sendable (GATTWriteRequest) throws -> GATTWriteOutcome

/// The answer of a read handler.
public enum GATTReadOutcome: Hashable, Sendable {
    /// Gives the whole value, up to 512 octets; the server cuts out what was asked for.
    case value([UInt8])
    /// Will `complete` the request's `pending` answer.
    case later
}

/// The answer of a write handler.
public enum GATTWriteOutcome: Hashable, Sendable {
    /// Accepts the value; the server stores it once all handlers of the transaction have accepted.
    case accept
    /// Will `complete` the request's `pending` answer. A command has no answer, so there it means `accept`.
    case later
}

/// An answer that a handler still has to give. It has no effect once the link has ended or the client has waited
/// too long.
public struct PendingAnswer: Hashable, Sendable {
    /// The client to which it is owed.
    package let client: ClientID
    /// The bearer on which it is owed.
    package let bearer: BearerID
    let number: UInt64
}

/// A client's request to read an attribute.
public struct GATTReadRequest: Hashable, Sendable {
    /// The central whose request it is.
    public let central: Central
    /// The handle of the attribute that is read.
    public let handle: AttributeHandle
    /// Its type: for a value, the characteristic's UUID.
    public let uuid: BluetoothUUID
    /// The offset from which the client reads on, in octets; the handler gives the whole value all the same.
    public let offset: Int
    /// The most octets of one PDU on this link: of the value, one fewer go into a response.
    public let mtu: ATTMTU
    /// The answer that is owed when the handler returns `.later`.
    public let pending: PendingAnswer
}

/// The kind of request or command by which a value was written.
public enum GATTWriteKind: String, Hashable, Sendable {
    /// By Write Request: the client waits for the answer.
    case request
    /// By Write Command: the client expects no response.
    case command
    /// By Prepare and Execute Write Requests.
    case prepared
    /// The client used Signed Write Command.
    case signed

    /// Whether the client expects no response.
    package var isCommand: Bool { self == .command || self == .signed }
}

/// What a client wrote to one attribute.
public struct GATTWrite: Hashable, Sendable {
    /// The handle of the attribute that is written.
    public let handle: AttributeHandle
    /// Its type: for a value, the characteristic's UUID.
    public let uuid: BluetoothUUID
    /// The whole value, put together where it came in parts.
    public let value: [UInt8]

    package init(handle: AttributeHandle, uuid: BluetoothUUID, value: [UInt8]) {
        self.handle = handle
        self.uuid = uuid
        self.value = value
    }
}

/// A client's request to write an attribute.
public struct GATTWriteRequest: Hashable, Sendable {
    /// The central whose request it is.
    public let central: Central
    /// What is written to the handler's own attribute.
    public let write: GATTWrite
    /// The kind of request or command that wrote it.
    public let kind: GATTWriteKind
    /// All that is written together, in order; more than `write` only for prepared writes. When one handler
    /// refuses, nothing of it is stored.
    public let transaction: [GATTWrite]
    /// The most octets of one PDU on this link.
    public let mtu: ATTMTU
    /// The answer that is owed when the handler returns `.later`.
    public let pending: PendingAnswer

    /// The whole value that is written to the handler's own attribute.
    public var value: [UInt8] { write.value }
}
