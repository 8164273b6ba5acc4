import ATT
import BLECore
import GATT
import GATTClient
import GATTServer
import HCI
import HCISocket
import SMP

/// Names a link of an adapter; never used twice.
package struct LinkID: Hashable, Sendable {
    let number: UInt64
}

/// One of those in this process who use a link.
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
        /// ACL packets; L2CAP and security are ours.
        case acl(ConnectionHandle)
    }

    let id: LinkID
    let peer: DeviceAddress
    let role: LinkRole
    let channel: Channel
    /// The controller's name for the link, where it is known.
    var handle: ConnectionHandle?
    /// What the controller has reported of it.
    var radio: RadioParameters
    /// What the peer's controller has reported of itself.
    var remoteVersion: RemoteVersion?
    var remoteFeatures: LEFeatures?

    var gatt: GATTConnection
    var reassembler = ACLReassembler()
    var signaling: LESignaling
    /// Pairing; unused on links of the kernel, which pairs itself.
    var pairing: SecurityManager
    /// What its encryption is worth, and the bond.
    var protection: LinkProtection
    /// How many bonds that were made on it are on their way to the disk. Until they are there, no change of its security
    /// is reported.
    var bondsBeingSaved = 0
    /// Whether such a change is to be reported then.
    var isSecurityWithheld = false
    /// Whether the last of these bonds could not be saved.
    var isBondUnsaved = false
    /// Ends when the last of them is saved, or cannot be.
    var saving: Task<Result<Void, BLEError>, Never>?
    /// What the user is asked or shown about a pairing.
    var dialogue: Task<Void, Never>?

    /// The procedures of the link layer.
    var procedures = LinkProcedures()
    /// What users want of the link when they come as well.
    let preparation = SerialQueue()
    /// Those who want it more secure.
    let elevation = SerialQueue()

    /// Whether security may be raised, also by pairing, when the server requires it.
    var raisesSecurity = false
    /// What makes it more secure for operations whose server requires that.
    var raising: [TicketID: Task<Void, Never>] = [:]
    /// Who listens to values of the server.
    var streams: [SubscriptionID: StreamBuffer<ReceivedValue>] = [:]
    /// The streams that report Service Changed.
    var changeWatchers = Watchers<ServiceChange>()
    /// The streams that report every change of `parameters`.
    var watchers = Watchers<LinkParameters>()
    /// Who has connected to the peer and has not disconnected. A link that a central has made needs none.
    var users: Set<LinkUser> = []
    /// Whether those who watch connections were notified of it.
    var isReported = false
    /// Whether it was said that values were too long for it.
    var hasReportedNarrowness = false
    /// The state of this host's disconnection.
    var ending = LinkEnding()
    /// Whether packets that leave its socket are reported.
    var isWatchingDepartures = false
    /// Why the kernel's link ended whose handle another one has already.
    var reason: HCIStatus?
    /// Why the bearer ended, while the link itself goes down.
    var closing: BLEError?

    /// Where frames are written before they go; kept, so that a frame costs no allocation.
    private var scratch: [UInt8] = []

    init(
        _ id: LinkID, to peer: DeviceAddress, as role: LinkRole, over channel: Channel,
        radio: RadioParameters, mtu: ATTMTU, pairing: SecurityManager, bond: Bond?
    ) {
        self.id = id
        self.peer = peer
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
        if case .acl(let handle) = channel { self.handle = handle }
    }

    /// What its encryption is worth.
    var security: LinkSecurity { protection.security }

    /// The same as it is reported: with a bond when that is known to be on the disk.
    var reportedSecurity: LinkSecurity {
        var reported = security
        if bondsBeingSaved > 0 || isBondUnsaved { reported.isBonded = false }
        return reported
    }

    /// The user is not needed any more.
    func endDialogue() { dialogue.take()?.cancel() }

    var parameters: LinkParameters {
        LinkParameters(
            timing: radio.timing, phys: radio.phys, dataLengths: radio.dataLengths, mtu: gatt.mtu.octets,
            security: reportedSecurity)
    }

    /// The identity address of a bonded peer, else the address that the peer connected with.
    var identity: DeviceAddress { protection.bond?.peer ?? peer }

    /// Whether its timing is known to meet these parameters.
    func keepsTime(as wanted: ConnectionParameters) throws(BLEError) -> Bool {
        let parameters = try wanted.checked()
        return radio.timing.map { parameters.admit($0) } ?? false
    }

    /// Whether a value can go, or wait for its turn.
    func hasRoom(for subscriber: Subscriber) -> Bool {
        gatt.hasRoom(forIndication: subscriber.prefersIndications)
    }

    /// Whether another caller can share the link.
    var isUsable: Bool { !ending.isBegun && closing == nil }

    /// A request to connect has come to this link.
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

    /// Sends the next frame of the kernel's bearer; false when there is none.
    func sendFrame(to port: any PacketPort, at now: Instant) -> Bool {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(addingCapacity: ATTMTU.maximum.octets) { _ = gatt.nextFrame(into: &$0, at: now) }
        guard !scratch.isEmpty else { return false }
        // A copy of the reference: what `send` does may come back here.
        let frame = scratch
        port.send(frame.span)
        return true
    }
}

extension Link {
    /// The link is gone or of no use any more: every wait for something on it fails with this error.
    func end(_ error: BLEError) {
        let ended = streams.sorted { $0.key.rawValue < $1.key.rawValue }
        streams = [:]
        for (_, stream) in ended { stream.finish(.failure(error)) }
        changeWatchers.finish(error)
        procedures.close()
        preparation.close(error)
        endDialogue()
        elevation.close(error)
        watchers.finish(error)
    }
}

/// The addresses by which two devices made a link. Pairing binds its keys to them (Core Specification 5.4, Vol 3, Part
/// H, 2.2.3 and 2.2.7), whatever identities they stand for.
struct AddressesOnAir: Hashable, Sendable {
    let own: DeviceAddress
    let peer: DeviceAddress
}
