import BLECore
import SMP

extension BondStore {
    /// The identity that this host distributes under an address, once it has been made.
    package func knownIdentity(at address: DeviceAddress) -> LocalIdentity? {
        state.withLock { $0.identities[address] }
    }

    /// The identity that this host distributes under an address. It is made with the first call, and on the disk
    /// before it is given: peers keep its key for as long as their bonds last.
    package func identity(at address: DeviceAddress) async throws(BLEError) -> LocalIdentity {
        // Zero means that no resolvable addresses are used.
        try await identity(orNew: LocalIdentity(address: address, identityKey: .random(in: 1 ... .max)))
    }

    /// The identity under that one's address; where there is none, that one from now on.
    func identity(orNew made: LocalIdentity) async throws(BLEError) -> LocalIdentity {
        if let known = knownIdentity(at: made.address) { return known }
        var present = made
        if let folder {
            present = try await offLoop { () throws(BLEError) in try await folder.identity(orNew: made) }
        }
        return state.withLock { [present] state in
            if let known = state.identities[present.address] { return known }
            state.identities[present.address] = present
            return present
        }
    }

    /// The random static address of an adapter that has no public one: made with the first call, and the same ever
    /// after, for peers know this host by it. The name says which adapter: its device file, for one.
    package func staticAddress(of adapter: String) async throws(BLEError) -> DeviceAddress {
        if let known = state.withLock({ $0.addresses[adapter] }) { return known }
        var present = StaticAddress(.randomStatic(.random(in: .min ... .max)), of: adapter)
        if let folder {
            present = try await offLoop { [present] () throws(BLEError) in
                try await folder.address(orNew: present)
            }
        }
        return state.withLock { [present] state in
            if let known = state.addresses[adapter] { return known }
            state.addresses[adapter] = present.address
            return present.address
        }
    }
}
