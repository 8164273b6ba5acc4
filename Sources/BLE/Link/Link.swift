import ATT
import BLECore
import HCI
import HCISocket
import SMP

/// Names a link of an adapter; never used twice.
public struct LinkID: Hashable, Sendable {
    let number: UInt64
}

/// Which part this host plays on a link.
public enum LinkRole: Hashable, Sendable {
    /// We connected to it.
    case central
    /// It connected to us.
    case peripheral
}

/// One connection to one device: the ATT bearer with both GATT roles on it, and the channel below.
/// Confined to its adapter.
final class Link {
    /// What carries the ATT frames.
    enum Channel {
        /// A kernel L2CAP socket.
        case socket(L2CAPChannel)
        /// ACL packets; L2CAP and security are ours.
        case acl(ConnectionHandle)
    }

    let id: LinkID
    let peer: DeviceAddress
    let role: LinkRole
    let channel: Channel
    /// The controller's name for the link, where it is known.
    var handle: ConnectionHandle?
    var timing: LinkParameters.Timing?
    var phys: LinkParameters.PHYs?

    var bearer: ATTBearer
    var reassembler = ACLReassembler()
    var signaling: LESignaling
    var pairing = PairingRefusal()

    /// Procedures of several requests run one after the other.
    let procedures = Turnstile()
    /// Discoveries of the whole database as well.
    let discovery = Turnstile()
    /// Commands and notifications that wait for the transport to take more.
    let room = Room()
    /// The indication of Service Changed that waits for its confirmation.
    var serviceChange: ATTTransactionID?

    /// The client's half: what it knows of the server, and who listens to it.
    var client = LinkClient()
    /// Why the bearer ended, while the link itself goes down.
    var closing: BLEError?

    /// Where frames are written before they go; kept, so that a frame costs no allocation.
    private var scratch: [UInt8] = []

    init(_ id: LinkID, to peer: DeviceAddress, as role: LinkRole, over channel: Channel, mtu: ATTMTU) {
        self.id = id
        self.peer = peer
        self.role = role
        self.channel = channel
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = mtu
        bearer = ATTBearer(configuration)
        signaling = LESignaling(role: role == .central ? .central : .peripheral)
        if case .acl(let handle) = channel { self.handle = handle }
    }

    /// What it is now.
    var parameters: LinkParameters { LinkParameters(timing: timing, phys: phys, mtu: bearer.mtu.octets) }

    var deadline: Instant? {
        earlier(
            earlier(bearer.deadline, client.held.deadline), earlier(signaling.deadline, pairing.deadline))
    }

    /// Calls `send` with the next frame of a machine; false when there is none.
    func nextFrame(
        _ machine: ReferenceWritableKeyPath<Link, some Machine>, _ send: (Span<UInt8>) -> Void
    ) -> Bool {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(addingCapacity: ATTMTU.maximum.octets) { output in
            _ = self[keyPath: machine].nextFrame(into: &output)
        }
        guard !scratch.isEmpty else { return false }
        // A copy of the reference: what `send` does may come back here.
        let frame = scratch
        send(frame.span)
        return true
    }
}

extension Link {
    /// The link is gone or of no use any more: whoever waits for something on it hears why.
    func end(_ error: BLEError) {
        client.end(error)
        procedures.close(error)
        discovery.close(error)
        room.close(error)
    }
}
