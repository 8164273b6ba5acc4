import ATT
import BLECore
import DequeModule

/// A GATT server without I/O: one database and what it knows of each central (Core Specification 5.4, Vol
/// 3, Part G). Bearers bring it requests and take its answers:
///
/// ```swift
/// bearer.receive(frame, at: now)
/// while let event = bearer.nextEvent(serving: central, from: &server) { /* the client's and the link's */ }
/// while let event = server.nextEvent() { /* what centrals did */ }
/// while bearer.nextFrame(into: &output) { … }
/// ```
/// Kernel sockets, ACL links and tests all do just this; nothing is copied between the frame and a handler
/// but the value that a write carries.
public struct GATTServer: Sendable {
    /// What the owner of a server chooses.
    public struct Configuration: Sendable {
        /// Prepared writes that one central may queue.
        public var prepareQueueLimit = 64
        /// Asked where an attribute's permissions want authorization; without it, all such are refused.
        public var authorize: (@Sendable (GATTAuthorizationRequest) -> Bool)?

        /// The defaults.
        public init() {}
    }

    /// What all links share.
    struct Shared: Sendable {
        var database: AttributeDatabase
        var configuration: Configuration
        var events = Deque<GATTServerEvent>()
        var refusedCommands = 0
        var lastPending: UInt64 = 0
    }

    var shared: Shared
    var links: [CentralID: GATTResponder] = [:]

    /// A server of `database`.
    public init(_ database: AttributeDatabase, _ configuration: Configuration = Configuration()) {
        shared = Shared(database: database, configuration: configuration)
    }

    /// The attributes and their values.
    public var database: AttributeDatabase { shared.database }
    /// Commands that did nothing because the attribute, its permissions or the signature forbade it.
    public var refusedCommands: Int { shared.refusedCommands }
    /// The centrals whose links are up.
    public var centrals: [CentralID] { links.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Takes a link in. What was remembered of a bonded central holds again: what it subscribed to, and what
    /// of the database it knows.
    public mutating func connect(
        _ central: CentralID, security: LinkSecurity = .none, record: GATTClientRecord? = nil
    ) {
        var link = GATTResponder(central)
        link.security = security
        if let record { link.restore(record, &shared) }
        links[central] = link
    }

    /// The link turns out to be a bonded central's, which its encryption has shown: what was remembered of it
    /// holds again, except where it has chosen anew.
    public mutating func restore(_ record: GATTClientRecord, of central: CentralID) {
        links[central]?.restore(record, &shared)
    }

    /// Forgets a link and what it had prepared; gives back what to remember of the central if it is bonded.
    @discardableResult
    public mutating func disconnect(_ central: CentralID) -> GATTClientRecord {
        guard var link = links.removeValue(forKey: central) else { return GATTClientRecord() }
        let record = link.record(shared)
        for handle in record.configurations.keys.sorted() { link.configure(handle, [], &shared) }
        return record
    }

    /// What to remember of a central that is bonded, as of now.
    public func record(of central: CentralID) -> GATTClientRecord? { links[central]?.record(shared) }

    /// Gives the key by which a bonded central signs its writes, and the least counter that it may use; without a
    /// key, none of them is accepted.
    public mutating func setSigningKey(
        _ key: ATTSigningKey?, nextCounter: UInt32 = 0, of central: CentralID
    ) {
        guard var link = links[central] else { return }
        link.signingKey = key
        link.nextSignCounter = max(link.nextSignCounter, nextCounter)
        links[central] = link
    }

    /// What a central said that it can do.
    public func features(of central: CentralID) -> ClientSupportedFeatures {
        links[central]?.features ?? []
    }

    /// Says how safe a link is now.
    public mutating func setSecurity(_ security: LinkSecurity, of central: CentralID) {
        links[central]?.security = security
    }

    /// Answers a request that came over a bearer with `mtu`; MTU exchanges are the bearer's own.
    public mutating func handle(_ request: ATTRequest, from central: CentralID, mtu: ATTMTU) -> GATTAnswer {
        links[central, default: GATTResponder(central)].answer(request, mtu: mtu, &shared)
    }

    /// Does what a command says, or counts that it may not.
    public mutating func handle(_ command: ATTCommand, from central: CentralID, mtu: ATTMTU) {
        links[central, default: GATTResponder(central)].perform(command, mtu: mtu, &shared)
    }

    /// Completes what a handler answered with `.later`: a read with the whole value, a write with anything.
    /// Gives what is to be sent to `pending.central`; nil when nobody waits for it any more.
    public mutating func complete(
        _ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>
    ) -> GATTAnswer? {
        links[pending.central]?.complete(pending, with: result, &shared)
    }

    /// The bearer has refused a request that waited too long for its handler: what the handler completes later is not done,
    /// and nothing of a long write stays queued (Core Specification 5.4, Vol 3, Part F, 3.4.6.3).
    public mutating func abandonRequest(of central: CentralID) { links[central]?.abandonRequest() }

    /// The next thing that a central did, oldest first.
    public mutating func nextEvent() -> GATTServerEvent? { shared.events.popFirst() }
}

/// What becomes of a request.
public enum GATTAnswer: Hashable, Sendable {
    /// The response.
    case respond(ATTResponse)
    /// A handler will complete it.
    case later
}

/// A client wants what the application must allow.
public struct GATTAuthorizationRequest: Hashable, Sendable {
    /// Who.
    public let central: CentralID
    /// Which attribute.
    public let handle: AttributeHandle
    /// Whether it is to be written; else read.
    public let isWrite: Bool
}

/// What a central did.
public enum GATTServerEvent: Hashable, Sendable {
    /// Read a value; parts of it that follow are not told again.
    case read(central: CentralID, handle: AttributeHandle, uuid: BluetoothUUID, value: [UInt8])
    /// Signed a write; a bonded central's next counter is to be kept, so that no write is taken twice.
    case signed(central: CentralID, nextCounter: UInt32)
    /// Wrote a value, and it was accepted.
    case write(central: CentralID, GATTWrite, kind: GATTWriteKind)
    /// Subscribed to the characteristic with this value handle, or changed how.
    case subscribed(
        central: CentralID, handle: AttributeHandle, uuid: BluetoothUUID, ClientCharacteristicConfiguration)
    /// Unsubscribed, or went away.
    case unsubscribed(central: CentralID, handle: AttributeHandle, uuid: BluetoothUUID)
}
