import ATT
import BLECore

/// Answers reads of an attribute. The handler runs where the request arrived, in the middle of the server's
/// work: it must neither block nor call the server back. A handler that takes longer returns `.later`. An
/// `ATTErrorCode` that it throws is the answer; any other error is answered with Unlikely Error.
public typealias ReadHandler = @Sendable (GATTReadRequest) throws -> GATTReadOutcome

/// Accepts or rejects what is written to an attribute, before it is stored. The handler runs where the
/// request arrived, in the middle of the server's work: it must neither block nor call the server back. A
/// handler that takes longer returns `.later`. An `ATTErrorCode` that it throws is the answer; any other
/// error is answered with Unlikely Error.
public typealias WriteHandler = @Sendable (GATTWriteRequest) throws -> GATTWriteOutcome

/// The answer of a read handler.
public enum GATTReadOutcome: Hashable, Sendable {
    /// Returns the whole value, up to 512 octets; the server extracts the requested part.
    case value([UInt8])
    /// The handler will `complete` the request's `pending` answer.
    case later
}

/// The answer of a write handler.
public enum GATTWriteOutcome: Hashable, Sendable {
    /// Accepts the value; the server stores it once all handlers of the transaction have accepted.
    case accept
    /// The handler will `complete` the request's `pending` answer. A command has no answer, so for a command
    /// this means `accept`.
    case later
}

/// An answer that a handler still has to give. It has no effect after the link has ended or the request has
/// become overdue.
public struct PendingAnswer: Hashable, Sendable {
    /// The client that waits for the answer.
    package let client: ClientID
    /// The bearer on which the client waits for the answer.
    package let bearer: BearerID
    let number: UInt64
}

/// A client's request to read an attribute.
public struct GATTReadRequest: Hashable, Sendable {
    /// The central that sent the request.
    public let central: Central
    /// The handle of the attribute that is read.
    public let handle: AttributeHandle
    /// The type of the attribute; for a value, the characteristic's UUID.
    public let uuid: BluetoothUUID
    /// The offset in octets from which the client reads; the handler returns the whole value nevertheless.
    public let offset: Int
    /// The maximum length of one PDU on this link in octets; a response holds at most MTU - 1 octets of the
    /// value.
    public let mtu: ATTMTU
    /// The answer to complete when the handler returns `.later`.
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
    /// By Signed Write Command: the client expects no response.
    case signed

    /// Whether the client expects no response.
    package var isCommand: Bool { self == .command || self == .signed }
}

/// A value that a client wrote to one attribute.
public struct GATTWrite: Hashable, Sendable {
    /// The handle of the attribute that is written.
    public let handle: AttributeHandle
    /// The type of the attribute; for a value, the characteristic's UUID.
    public let uuid: BluetoothUUID
    /// The whole value, joined if it came in parts.
    public let value: [UInt8]

    package init(handle: AttributeHandle, uuid: BluetoothUUID, value: [UInt8]) {
        self.handle = handle
        self.uuid = uuid
        self.value = value
    }
}

/// A client's request to write an attribute.
public struct GATTWriteRequest: Hashable, Sendable {
    /// The central that sent the request.
    public let central: Central
    /// The write to the handler's own attribute.
    public let write: GATTWrite
    /// The kind of request or command that wrote it.
    public let kind: GATTWriteKind
    /// All values that are written together, in order; more than `write` only for prepared writes. If one
    /// handler rejects its value, none of them is stored.
    public let transaction: [GATTWrite]
    /// The maximum length of one PDU on this link in octets.
    public let mtu: ATTMTU
    /// The answer to complete when the handler returns `.later`.
    public let pending: PendingAnswer

    /// The whole value that is written to the handler's own attribute.
    public var value: [UInt8] { write.value }
}
