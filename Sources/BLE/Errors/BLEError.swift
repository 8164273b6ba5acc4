import ATT
import BLEAdvertising
import BLECore
import GATT
import GATTClient
import GATTServer
import HCI
import HCISocket
import SMP
import SystemPackage

/// The errors of this library, as data: cases contain numbers and types, and `description` makes a sentence
/// of them.
///
/// Local misuse (`outOfRange`, `limit`, `invalidRequest`), a peer that breaks the specification
/// (`peerMisbehaved`) and a controller that does (`controllerMisbehaved`) are different cases.
///
/// ```swift
/// do {
///     try await device.writeWithoutResponse(value, to: characteristic)
/// } catch .limit(.value, let maximum, _) {
///     // The value has more octets than the MTU allows.
///     try await device.writeWithoutResponse(Array(value.prefix(maximum)), to: characteristic)
/// }
/// ```
public enum BLEError: Error, Hashable, Sendable {
    /// The adapter is missing or cannot be used.
    case adapter(AdapterProblem)
    /// The process lacks a capability for an operation of the kernel.
    case permission(Capability, for: KernelOperation)
    /// The process is not allowed to read and write a device's file.
    case fileAccess(path: String)
    /// The adapter has a random static address, which only the kernel's file at this path shows, and the
    /// process cannot read that file: it is in debugfs, which only root mounts and reads.
    case unknownIdentity(path: String)
    /// The controller refused this command with this status.
    case hci(HCIStatus, command: HCIOpcode)
    /// The controller did not answer a command in time.
    case controllerSilent(command: HCIOpcode)
    /// The controller's answer to a command breaks the specification.
    case controllerMisbehaved(command: HCIOpcode, ControllerMisbehavior)
    /// The peer's server refused a request.
    case att(ATTErrorResponse)
    /// The peer's packets violate the specification.
    case peerMisbehaved(PeerMisbehavior)
    /// The devices did not pair, for this reason.
    case pairing(PairingFailure)
    /// The devices cannot pair, or cannot pair now.
    case cannotPair(PairingImpossible)
    /// The peer no longer has the key of its bond. The host does not pair again by itself, because another
    /// device may be impersonating the peer. Pairing is possible again once the bond is removed.
    case bondLost(DeviceAddress)
    /// Pairing by the kernel failed; the kernel reports no more than this status.
    case kernelPairing(ManagementStatus)
    /// The link could not be encrypted. PIN or Key Missing means that the peer no longer has a key for it.
    case encryption(HCIStatus)
    /// The link that the operation needs has ended, for this reason.
    case disconnected(DisconnectReason)
    /// This many packets that the link had accepted, writes without response and notifications, were not
    /// sent: the link transferred no data for 2 s, or not all within 10 s, or it ended before.
    case unsent(Int)
    /// Another program has the link to that device, and on kernel adapters only one program can use a link.
    case busy(DeviceAddress)
    /// The connection was not established, for this reason.
    case connectFailed(DisconnectReason)
    /// The periodic train of an advertising set is no longer received, or the controller has lost the
    /// synchronization.
    case syncLost(DeviceAddress, set: UInt8)
    /// A number is out of its range.
    case outOfRange(Parameter, allowed: ClosedRange<Int>, value: Int)
    /// A time is out of its range.
    case timeOutOfRange(TimeParameter, allowed: ClosedRange<Duration>, value: Duration)
    /// `value` is more than the `maximum` of a limit of the protocol or of this library.
    case limit(Limit, maximum: Int, value: Int)
    /// The peer, or its controller, rejected the connection parameters that were requested.
    case parametersRefused
    /// The server's database has changed since the attribute with this handle was found, so nothing was sent
    /// to it, or the server refused it for that reason: discover again.
    case databaseChanged(AttributeHandle)
    /// A stream's buffer was full, by this limit, and its policy is to end the stream then.
    case overflow(BufferLimit)
    /// The request is invalid, for this reason.
    case invalidRequest(InvalidRequest)
    /// The object that the request names does not exist.
    case notFound(Missing)
    /// An activity took longer than its time limit.
    case timedOut(Activity, after: Duration)
    /// The caller's task was cancelled.
    case cancelled
    /// The services cannot be published as they are described.
    case database(DatabaseError)
    /// The data to advertise do not fit.
    case advertising(AdvertisingPlanError)
    /// The kernel's management socket refused an operation.
    case managementRefused(KernelOperation, ManagementStatus)
    /// The answer of the kernel's management socket to an operation is malformed.
    case managementMalformed(KernelOperation, DecodeError)
    /// Bonds cannot be read from the disk, or written to it.
    case bonds(StateError)
    /// There is no bond with the peer, or the peer has not received this host's signing key and could not check a
    /// signature.
    case noSigningKey(DeviceAddress)
    /// All counters of signed writes with the present key are used; a new pairing generates a new key.
    case countersUsedUp(BondID)
    /// The state that a manager is to restore at its next start cannot be kept, or not under that name.
    case restoration(RestorationError)
    /// A system call or stream failed.
    case port(PortError)
}

extension BLEError {
    /// An object that a request names and that does not exist.
    public enum Missing: Hashable, Sendable {
        /// A matching device, within this time; nil for a search without a time limit.
        case device(within: Duration?)
        /// The address of a device, which advertises without one.
        case address
        /// A characteristic of the device at this address; nil for one among the published services.
        case characteristic(BluetoothUUID, of: DeviceAddress?)
        /// A characteristic in the services of a type, of the device at this address.
        case characteristicOfService(BluetoothUUID, service: BluetoothUUID, of: DeviceAddress)
        /// The characteristic of a subscription, on the device at this address: none has that handle, and
        /// there is not exactly one of its type.
        case subscribed(BluetoothUUID, at: AttributeHandle, of: DeviceAddress)
        /// A service: none of this type is published.
        case service(BluetoothUUID)
        /// A value of the local server with this handle.
        case value(AttributeHandle)
        /// The store has no bond with this identifier.
        case bond(BondID)
    }

    /// An activity that has a time limit.
    public enum Activity: Hashable, Sendable {
        /// The operation for which the caller set a limit, as with `withTimeout(_:on:_:)`.
        case operation
        /// Opening an adapter, within a time limit of the caller.
        case opening
        /// Connecting to a device: the `timeout` of `CentralManager.connect`.
        case connecting
        /// Preparing a link that is up for its user: connection parameters and security. Part of
        /// `CentralManager.connect`.
        case linkSetup
        /// The answer to the exchange of the MTU. Part of `CentralManager.connect`.
        case mtuExchange
        /// A response or confirmation of the peer (Core Specification 5.4, Vol 3, Part F, 3.3.3).
        case response
        /// The next value of a stream: `BoundedStream.next(within:)`.
        case value
        /// The device's answer to a command: `CommandChannel.request(_:within:)`.
        case answer
        /// The update of a link's connection parameters.
        case connectionUpdate
        /// The peer's answer to a request for connection parameters.
        case parameterRequest
        /// A change of a link's PHYs.
        case phyUpdate
        /// Reading the version of the peer's controller.
        case remoteVersion
        /// Reading the features of the peer's controller.
        case remoteFeatures
        /// Encrypting a link, which the central begins.
        case encryption
        /// The search for a periodic train.
        case synchronization
        /// An operation of the kernel's management socket.
        case management(KernelOperation)
    }
}

/// Why a link ended: the controller's reason, if it is known.
public enum DisconnectReason: Hashable, Sendable {
    /// The reason that the controller gave.
    case status(HCIStatus)
    /// Only the kernel's errno is known, because receiving HCI events requires CAP_NET_RAW.
    case errno(Int32)
    /// No reason was reported.
    case unknown
}

extension DisconnectReason: CustomStringConvertible {
    /// The name of the HCI status, or the system's text for the errno.
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
    /// A one-line description of what failed and why.
    public var description: String {
        switch self {
        case .adapter(let problem): "\(problem)"
        case .permission(let capability, let operation): "\(operation) needs \(capability)"
        case .fileAccess(let path): "this user may not read and write \(path)"
        case .unknownIdentity(let path):
            "the adapter has a static random address, and \(path), which shows it, cannot be read"
        case .hci(.connectionLimitExceeded, let command):
            "the controller has as many links as it supports (\(command): \(HCIStatus.connectionLimitExceeded))"
        case .hci(let status, let command): "\(command): \(status)"
        case .controllerSilent(let command): "\(command): no answer from the controller"
        case .controllerMisbehaved(let command, let how): "\(command): the controller misbehaves: \(how)"
        case .att(let response): "\(response)"
        case .peerMisbehaved(let how): "the peer misbehaves: \(how)"
        case .pairing(let failure): "pairing failed: \(failure)"
        case .cannotPair(let reason): "cannot pair: \(reason)"
        case .bondLost(let peer): "\(peer) no longer has the key of the bond"
        case .kernelPairing(let status): "pairing failed: \(status)"
        case .encryption(let status): "the link cannot be encrypted: \(status)"
        case .disconnected(let reason): "link lost: \(reason)"
        case .unsent(let count):
            "\(count) \(count == 1 ? "packet was" : "packets were") not sent: the link accepts no more data"
        case .busy(let peer): "another program has the link to \(peer)"
        case .connectFailed(let reason): "cannot connect: \(reason)"
        case .syncLost(let advertiser, let set): "the periodic train of \(advertiser), set \(set), is lost"
        case .outOfRange(let parameter, let allowed, let value):
            Self.text(
                "\(value)", isBelow: value < allowed.lowerBound, parameter,
                "\(value < allowed.lowerBound ? allowed.lowerBound : allowed.upperBound)"
                    + (parameter.unit.map { " \($0)" } ?? ""))
        case .timeOutOfRange(let parameter, let allowed, let value):
            Self.text(
                value.phrase, isBelow: value < allowed.lowerBound, parameter,
                (value < allowed.lowerBound ? allowed.lowerBound : allowed.upperBound).phrase)
        case .limit(let limit, let maximum, let value): "too many \(limit): \(value), at most \(maximum)"
        case .parametersRefused: "the peer refuses the connection parameters"
        case .databaseChanged(let handle):
            "the device's database has changed since attribute \(handle) was found"
        case .overflow(let limit): "more than \(limit) waited in the stream's buffer"
        case .invalidRequest(let request): "\(request)"
        case .noSigningKey(let peer):
            "\(peer) cannot check signatures: only a bonded peer that has this host's signing key can"
        case .notFound(let missing): "\(missing)"
        case .timedOut(let activity, let limit): "\(activity) took longer than \(limit.phrase)"
        case .cancelled: "cancelled"
        case .database(let error): "\(error)"
        case .advertising(let error): "\(error)"
        case .managementRefused(let operation, let status): "\(operation): the kernel refuses: \(status)"
        case .managementMalformed(let operation, let error):
            "\(operation): the kernel's answer is malformed: \(error)"
        case .bonds(let error): "\(error)"
        case .countersUsedUp(let id): "all counters of signed writes of the bond with \(id) are used up"
        case .restoration(let error): "\(error)"
        case .port(let error): "\(error)"
        }
    }
}

extension BLEError.Missing: CustomStringConvertible {
    /// A clause: "no device was found within 10 s".
    public var description: String {
        switch self {
        case .device(let limit?): "no device was found within \(limit.phrase)"
        case .device(nil): "no device was found"
        case .address: "the device advertises without an address"
        case .characteristic(let uuid, let device?): "\(device) has no characteristic \(uuid)"
        case .characteristicOfService(let uuid, let service, let device):
            "\(device) has no characteristic \(uuid) in a service \(service)"
        case .characteristic(let uuid, nil): "no characteristic \(uuid) is published"
        case .subscribed(let uuid, let handle, let device):
            "\(device) has no characteristic \(uuid) at \(handle), and not exactly one other of that type"
        case .service(let uuid): "no service \(uuid) is published"
        case .value(let handle): "no value has the handle \(handle)"
        case .bond(let id): "there is no bond with \(id)"
        }
    }
}

extension BLEError.Activity: CustomStringConvertible {
    /// A phrase for messages: "the connection update".
    public var description: String {
        switch self {
        case .operation: "the operation"
        case .opening: "opening the adapter"
        case .connecting: "connecting"
        case .linkSetup: "setting up the link"
        case .mtuExchange: "the answer to the exchange of the MTU"
        case .response: "the peer's answer"
        case .value: "the next value"
        case .answer: "the answer to the command"
        case .connectionUpdate: "the connection update"
        case .parameterRequest: "the answer to a request for connection parameters"
        case .phyUpdate: "the PHY update"
        case .remoteVersion: "the version of the peer's controller"
        case .remoteFeatures: "the features of the peer's controller"
        case .encryption: "encryption"
        case .synchronization: "finding the periodic train"
        case .management(let operation): "\(operation): the kernel's answer"
        }
    }
}

extension BLEError {
    /// Creates the error for an operation of the client role that has no result.
    init(_ failure: GATTFailure) {
        switch failure {
        case .procedure(let error): self.init(error)
        case .limit(let error): self.init(error)
        case .transaction(let error): self.init(error)
        case .databaseChanged(let handle): self = .databaseChanged(handle)
        case .restlessDatabase: self = .peerMisbehaved(.restlessDatabase)
        // The code that raises the security of links throws no other errors.
        case .security(let error): self = error as? BLEError ?? .encryption(.unspecifiedError)
        case .cancelled: self = .cancelled
        }
    }

    /// Creates the error for a client procedure that failed.
    init(_ error: GATTClientError) {
        switch error {
        case .att(let response): self = .att(response)
        case .misbehaving(let request, let how): self = .peerMisbehaved(.answer(to: request, how))
        case .limit(.readOffset, let maximum, let value):
            self = .limit(.readOffset, maximum: maximum, value: value)
        case .limit(.valueLength, let maximum, let value):
            self = .limit(.valueLength, maximum: maximum, value: value)
        }
    }

    /// Creates the error for a PDU that the bearer does not accept because of a limit.
    init(_ error: ATTLimitError) {
        var head = 0
        let limit: Limit
        switch error.limit {
        case .pdu(let opcode):
            // The caller knows the length of the value, not of the octets before it.
            head = opcode.octetsBeforeValue
            limit = .value(opcode)
        case .requests: limit = .waitingRequests
        case .notifications: limit = .waitingCommands
        case .indications: limit = .waitingIndications
        }
        self = .limit(limit, maximum: error.maximum - head, value: error.value - head)
    }

    /// Creates the error for a transaction without an answer.
    init(_ error: ATTTransactionError) {
        switch error {
        case .closed(.transactionTimeout):
            self = .timedOut(.response, after: ATTLimits.transactionTimeout)
        case .closed(.disconnected): self = .disconnected(.unknown)
        case .unexpectedResponse(let response, let request):
            self = .peerMisbehaved(.unexpectedResponse(response, to: request))
        case .foreignError(let named, let request):
            self = .peerMisbehaved(.foreignError(about: named, to: request))
        case .malformedResponse(let error): self = .peerMisbehaved(.malformedResponse(error))
        }
    }
}

extension ATTOpcode {
    /// The octets of a PDU that do not belong to its value: in most PDUs with a value, opcode and handle.
    fileprivate var octetsBeforeValue: Int {
        switch self {
        case .signedWriteCommand: 3 + ATTSignature.encodedCount
        case .prepareWriteRequest: 5
        default: 3
        }
    }
}
