import ATT
import BLECore
import GATT
import GATTClient
import GATTServer
import HCI
import HCISocket
import Logging
import SMP

/// Identifies a link of an adapter; never reused.
package struct LinkID: Hashable, Sendable {
    let number: UInt64
}

/// Identifies a user of a link in this process.
struct LinkUser: Hashable, Sendable {
    let link: LinkID
    let number: UInt64
}

/// One connection to one device: GATT with both roles on it, and the channel below.
/// Confined to its adapter.
final class Link {
    /// The transport of the ATT frames.
    enum Channel {
        /// A kernel L2CAP socket.
        case socket(L2CAPChannel)
        /// ACL packets; this host does L2CAP and security itself.
        case acl(ConnectionHandle)
    }

    let id: LinkID
    let peer: DeviceAddress
    /// The address that the peer uses on the air; nil on kernel adapters, which do not report it.
    let onAir: DeviceAddress?
    let role: LinkRole
    let channel: Channel
    /// The link's connection handle, where it is known.
    var handle: ConnectionHandle?
    /// The parameters that the controller has reported.
    var radio: RadioParameters
    /// The version and the features that the peer's controller has reported.
    var remoteVersion: RemoteVersion?
    var remoteFeatures: LEFeatures?

    var gatt: GATTConnection
    /// Whether the exchange of the MTU is omitted, because the device does not answer it.
    var omitsMTU = false
    var reassembler = ACLReassembler()
    var signaling: LESignaling
    /// Pairing; unused on links of the kernel, which pairs itself.
    var pairing: SecurityManager
    /// The security of the link's encryption, and the bond.
    var protection: LinkProtection
    /// The number of bonds that were made on the link and are still being saved. Until they are on the disk,
    /// no change of the link's security is reported.
    var bondsBeingSaved = 0
    /// Whether a change of security is to be reported once they are saved.
    var isSecurityWithheld = false
    /// Whether the last of these bonds could not be saved.
    var isBondUnsaved = false

    /// The procedures of the link layer.
    var procedures = LinkProcedures()
    /// Whether security may be raised, also by pairing, when the server requires it.
    var raisesSecurity = false
    /// The users that have connected to the peer and have not disconnected. A link that a central has
    /// established needs none.
    var users: Set<LinkUser> = []
    /// The identifier by which the watchers of connections were notified of the link; nil if they were not.
    var reported: Peripheral.Identifier?
    /// Whether a warning was logged that values were too long for the link.
    var hasReportedNarrowness = false
    /// The state of this host's disconnection.
    var ending = LinkEnding()
    /// Whether packets that the link's socket has sent are reported.
    var isWatchingDepartures = false
    /// The reason why the kernel's link ended, if another link has its handle already.
    var reason: HCIStatus?
    /// The error that ended the bearer, while the link itself is being ended.
    var closing: BLEError?
    /// The error for which the keys of a pairing were removed from the kernel, which ends the link.
    var givenUp: BLEError?

    /// The buffer into which frames are written before they are sent; kept, so that a frame costs no
    /// allocation.
    private var scratch: [UInt8] = []
    /// The number of failures with the fixed passkey that all links share, when it was last set for this link.
    var sharedFailures: Int

    init(
        _ id: LinkID, to peer: DeviceAddress, onAir: DeviceAddress?, as role: LinkRole, over channel: Channel,
        radio: RadioParameters, mtu: ATTMTU, pairing: SecurityManager, bond: Bond?
    ) {
        self.id = id
        self.peer = peer
        self.onAir = onAir
        self.role = role
        self.channel = channel
        self.radio = radio
        self.pairing = pairing
        let isKernel = if case .socket = channel { true } else { false }
        protection = LinkProtection(as: role, isKernel: isKernel, bond: bond)
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = mtu
        gatt = GATTConnection(ClientID(id), configuration)
        signaling = LESignaling(role: role)
        sharedFailures = pairing.passkeyFailures.values.max() ?? 0
        if case .acl(let handle) = channel { self.handle = handle }
    }

    /// Whether the peer need not be the device of a bond that is found by its address: the bond's device has only
    /// claimed that address, behind a private one, and this peer has it on the air.
    func doubts(_ bond: Bond) -> Bool { bond.isIdentityClaimed && onAir == bond.peer }

    /// The security of the link's encryption.
    var security: LinkSecurity { protection.security }

    /// The security as it is reported: bonded only once the bond is known to be on the disk.
    var reportedSecurity: LinkSecurity {
        var reported = security
        if bondsBeingSaved > 0 || isBondUnsaved { reported.isBonded = false }
        return reported
    }

    var parameters: LinkParameters {
        LinkParameters(
            timing: radio.timing, phys: radio.phys, dataLengths: radio.dataLengths, mtu: gatt.mtu.octets,
            security: reportedSecurity)
    }

    /// The identity address of a bonded peer, else the address that the peer connected with.
    var identity: DeviceAddress { protection.bond?.peer ?? peer }

    /// Returns whether the link's timing is known to meet these parameters.
    func keepsTime(as wanted: ConnectionParameters) throws(BLEError) -> Bool {
        let parameters = try wanted.checked()
        return radio.timing.map { parameters.admit($0) } ?? false
    }

    /// Returns whether the link can send or queue a value for `subscriber`.
    func hasRoom(for subscriber: Subscriber) -> Bool {
        gatt.hasRoom(forIndication: subscriber.prefersIndications)
    }

    /// Whether another caller can share the link.
    var isUsable: Bool { !ending.isBegun && closing == nil }

    /// Adds the user of a request to connect to this link.
    func join(_ ticket: ConnectTicket) -> LinkUser {
        let user = LinkUser(link: id, number: ticket.number)
        users.insert(user)
        return user
    }

    var deadline: Instant? {
        earlier(
            earlier(gatt.deadline, earlier(signaling.deadline, pairing.deadline)),
            earlier(ending.deadline, procedures.deadline))
    }

    /// Handles data from a controller that this host runs itself: a fragment of an L2CAP frame.
    func receive(
        _ boundary: ACLPacket.Boundary, _ data: Span<UInt8>, at now: Instant, _ log: Logger
    ) throws(ACLReassemblyError) {
        try reassembler.receive(boundary, data) { channel, payload in
            switch channel {
            case .att: gatt.receive(payload, at: now)
            case .leSignaling: signaling.receive(payload, at: now)
            case .securityManager: pairing.receive(payload, at: now)
            default: log.debug("ignoring a frame on channel \(channel)")
            }
        }
    }

    /// Sends the next frame of the kernel's bearer; false when there is none.
    func sendFrame(to port: any L2CAPSocket, at now: Instant) -> Bool {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(addingCapacity: ATTMTU.maximum.octets) { _ = gatt.nextFrame(into: &$0, at: now) }
        guard let opcode = scratch.first.map(ATTOpcode.init(rawValue:)) else { return false }
        // A copy of the reference, because `send` may call back into this link.
        let frame = scratch
        port.send(frame.span, isAwaited: opcode.isUnasked)
        return true
    }
}

/// The addresses by which two devices made a link. Pairing binds its keys to them (Core Specification 5.4, Vol 3, Part
/// H, 2.2.3 and 2.2.7), whatever identities they stand for.
struct AddressesOnAir: Hashable, Sendable {
    let own: DeviceAddress
    let peer: DeviceAddress
}
