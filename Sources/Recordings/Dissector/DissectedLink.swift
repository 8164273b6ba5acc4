import ATT
import BLECore
import HCI

/// The state of a connection while a recording is read.
struct DissectedLink: Sendable {
    /// A device of the connection, which identifies the database that it serves.
    enum Owner: Hashable, Sendable {
        /// The adapter of the recorded host.
        case host(UInt16)
        /// A peer with a known address.
        case peer(DeviceAddress)
        /// A peer without a known address, which its connection identifies.
        case unknownPeer(UInt16, ConnectionHandle)
    }

    /// A request whose answer is pending.
    struct Request: Sendable {
        let frame: Int
        let time: RecordingTime
        let request: ATTRequest?
        let name: String
        let attribute: DecodedAttribute?
    }

    let host: Owner
    let remote: Owner
    var peer: DeviceAddress?
    /// Whether the connection is one of BR/EDR.
    var isClassic = false
    var sent = ACLReassembler()
    var received = ACLReassembler()
    /// The direction of the last data packet.
    private var lastDirection = HCIDirection.controllerToHost
    /// The pending requests of the host and of the peer. The pending indications of both, which confirmations
    /// answer, are below.
    private var requests: (host: Request?, peer: Request?)
    private var indications: (host: Request?, peer: Request?)

    init(adapter: UInt16, handle: ConnectionHandle, peer: DeviceAddress?) {
        self.peer = peer
        host = .host(adapter)
        remote = peer.map { .peer($0) } ?? .unknownPeer(adapter, handle)
    }

    /// Returns the direction of a data packet. A continuation fragment whose direction the file does not give
    /// belongs to the unfinished frame; if both directions have one, it has the direction of the data packet
    /// before it.
    mutating func direction(of data: ACLPacket, _ stated: HCIDirection, isGuess: Bool) -> HCIDirection {
        var direction = stated
        if isGuess, data.boundary == .continuing {
            switch (sent.takes(data.data.count), received.takes(data.data.count)) {
            case (true, false): direction = .hostToController
            case (false, true): direction = .controllerToHost
            case (true, true): direction = lastDirection
            case (false, false): break
            }
        }
        lastDirection = direction
        return direction
    }

    /// Returns the device to whose attributes a PDU refers.
    func owner(of kind: ATTOpcode.Kind?, _ direction: HCIDirection) -> Owner {
        let fromClient = kind != .response && kind != .unsolicited
        return fromClient == (direction == .hostToController) ? remote : host
    }

    /// Stores a request or indication, and returns the request or indication that a PDU answers.
    mutating func pair(_ opcode: ATTOpcode, _ direction: HCIDirection, _ new: Request) -> Request? {
        let isHost = direction == .hostToController
        switch opcode.kind {
        case .request: if isHost { requests.host = new } else { requests.peer = new }
        case .response: return isHost ? requests.peer.take() : requests.host.take()
        case .unsolicited where opcode == .handleValueIndication:
            if isHost { indications.host = new } else { indications.peer = new }
        case .confirmation: return isHost ? indications.peer.take() : indications.host.take()
        default: break
        }
        return nil
    }
}

extension ATTPDU {
    /// The attribute handle that the PDU itself contains, if it identifies one attribute.
    var handle: AttributeHandle? {
        switch self {
        case .request(.read(let handle)), .request(.readBlob(let handle, _)),
            .request(.write(let handle, _)), .request(.prepareWrite(let handle, _, _)),
            .command(.write(let handle, _)), .command(.signedWrite(let handle, _, _)),
            .unsolicited(.notification(let handle, _)), .unsolicited(.indication(let handle, _)),
            .response(.prepareWrite(let handle, _, _)):
            handle
        case .response(.error(let error)):
            // In an error response to discovery, the handle is only the start of the range.
            switch error.requestOpcode {
            case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest,
                .readByGroupTypeRequest:
                nil
            default: error.handle == .none ? nil : error.handle
            }
        default: nil
        }
    }
}
