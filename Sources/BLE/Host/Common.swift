import BLECore
import SMP

/// What the machines of a host share: the controller, this host's identity, the peers that it knows, and chance.
package struct Common {
    /// The features and limits of the controller.
    package var controller = ControllerCapabilities()
    /// Whether other programs use the controller, too.
    package var isShared = false
    /// Whether the system sleeps, or is about to.
    package var isSuspended = false
    /// The address by which other devices know this host.
    package var identity: DeviceAddress
    /// The identity in pairings, of this or of an earlier address; nil until the first set-up.
    package var storedIdentity: LocalIdentity?
    /// The bonds of this host's identity, as they were when the changes of the store were taken last.
    package var bonds = BondTable()
    /// The source of what the host chooses at random.
    package var random: HostRandom

    package init(identity: DeviceAddress, random: HostRandom) {
        self.identity = identity
        self.random = random
    }
}

extension Common {
    /// The identity of this host in pairings.
    package var localIdentity: LocalIdentity {
        storedIdentity ?? LocalIdentity(address: identity, identityKey: 0)
    }

    /// Returns the bond with the device that uses an address, or with the identity behind it. The result for a private
    /// address is remembered.
    mutating func record(behind address: DeviceAddress) -> BondRecord? {
        bonds.record(behind: address, at: identity)
    }

    /// Returns the identity of the bonded peer that uses an address, else the address itself.
    mutating func identity(behind address: DeviceAddress) -> DeviceAddress {
        record(behind: address)?.bond.peer ?? address
    }

    /// Returns a new private address of this host.
    mutating func newPrivateAddress() -> DeviceAddress {
        .resolvable(
            .random(in: .min ... .max, using: &random),
            key: SecurityManager.aes128(key: localIdentity.identityKey))
    }
}
