import ATT
import BLECore
import HCI

/// What is remembered of a connection while a recording is read.
struct DissectedLink: Sendable {
    /// A side of the connection, and whose database it has.
    enum Owner: Hashable, Sendable {
        /// The adapter of the recorded host.
        case host(UInt16)
        /// A peer; one without a known address is known by its connection alone.
        case peer(DeviceAddress)
        case stranger(UInt16, ConnectionHandle)
    }

    /// A request that waits for its answer.
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
    var sent = ACLReassembler()
    var received = ACLReassembler()
    /// Which way the last data went.
    private var lastDirection = HCIDirection.controllerToHost
    /// Requests of the host and of the peer, and indications of both, which confirmations answer.
    private var requests: (host: Request?, peer: Request?)
    private var indications: (host: Request?, peer: Request?)

    init(adapter: UInt16, handle: ConnectionHandle, peer: DeviceAddress?) {
        self.peer = peer
        host = .host(adapter)
        remote = peer.map { .peer($0) } ?? .stranger(adapter, handle)
    }

    /// The direction of data. A continuation whose direction the file does not give belongs to the frame that is
    /// unfinished; where both directions have one, it has the direction of the data before it.
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

    /// Returns the device whose attributes a PDU is about.
    func owner(of pdu: ATTPDU, _ direction: HCIDirection) -> Owner {
        let fromClient = pdu.opcode.kind != .response && pdu.opcode.kind != .unsolicited
        return fromClient == (direction == .hostToController) ? remote : host
    }

    /// Remembers what is to be answered, and gives what a PDU answers.
    mutating func pair(_ pdu: ATTPDU, _ direction: HCIDirection, _ new: Request) -> Request? {
        let isHost = direction == .hostToController
        switch pdu {
        case .request: if isHost { requests.host = new } else { requests.peer = new }
        case .response: return isHost ? requests.peer.take() : requests.host.take()
        case .unsolicited(.indication): if isHost { indications.host = new } else { indications.peer = new }
        case .confirmation: return isHost ? indications.peer.take() : indications.host.take()
        case .unsolicited, .command: break
        }
        return nil
    }
}

extension ATTPDU {
    /// The attribute that the PDU itself names.
    var handle: AttributeHandle? {
        switch self {
        case .request(.read(let handle)), .request(.readBlob(let handle, _)),
            .request(.write(let handle, _)), .request(.prepareWrite(let handle, _, _)),
            .command(.write(let handle, _)), .command(.signedWrite(let handle, _, _)),
            .unsolicited(.notification(let handle, _)), .unsolicited(.indication(let handle, _)),
            .response(.prepareWrite(let handle, _, _)):
            handle
        case .response(.error(let error)):
            // Of discovery it is only where the range began.
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
