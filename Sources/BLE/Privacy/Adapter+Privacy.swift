import BLECore
import HCI
import HCISocket
import Logging
import SMP

/// This host's private address, and the peers whose addresses the controller resolves. Neither may be changed
/// while the radio advertises, scans or initiates (Core Specification 5.4, Vol 4, Part E, 7.8.4 and 7.8.38),
/// so it pauses for that.
extension Adapter {
    /// The private address that the adapter uses on air in place of its identity address, and changes
    /// regularly; nil without privacy.
    public var privateAddress: DeviceAddress? { radio.privateAddress }

    /// The address that this adapter uses on air now.
    var addressOnAir: DeviceAddress { radio.privateAddress ?? identity }

    /// Sets up privacy on a controller that is idle.
    func setUpPrivacy() async throws(BLEError) {
        radio.privacyWasReset(
            listSize: canResolve ? capabilities.resolvingListSize : 0, at: loop.now)
        security.watchBonds()
        radio.setPeers(peers)
        while let command = try radio.nextSetupCommand(at: loop.now, newAddress: newPrivateAddress) {
            radio.setupAnswered(try await answer(to: command), at: loop.now)
        }
    }

    /// Whether the controller resolves addresses, and accepts peers that use their identity address, as many
    /// do that have distributed their key (Core Specification 5.4, Vol 6, Part B, 6.1.4). Otherwise their
    /// packets would be discarded.
    private var canResolve: Bool {
        capabilities.features.contains(.privacy) && capabilities.commands.contains(.leSetPrivacyMode)
    }

    /// The peers whose private addresses the controller can resolve.
    var peers: Radio.Peers {
        Radio.Peers(
            records: { [self] in security.bonds.recordsByAddress(at: identity) },
            localKey: localIdentity.identityKey, knowsHidden: security.bonds.knowsHiddenPeers(of: identity))
    }

    func newPrivateAddress() -> DeviceAddress {
        .resolvable(
            .random(in: .min ... .max, using: &random),
            key: SecurityManager.aes128(key: localIdentity.identityKey))
    }
}
