import BLECore
import HCISocket
import SMP

/// What a kernel adapter is set to for pairing, and what sets it back.
struct KernelPairingSettings {
    let options: SecurityOptions
    /// What the adapter was set to before.
    let before: Management.Settings

    /// What the adapter is set to, of what it supports.
    func setUp(_ supported: Management.Settings) throws(BLEError) -> [ManagementCommand] {
        if options.asksForOutOfBandData || options.outOfBandOffer != nil {
            throw .adapter(.unsupported(.outOfBandPairing))
        }
        // Where it may be typed as well, the peer decides; it is said when the kernel shows another.
        if options.fixedPasskey != nil, [.displayOnly, .displayYesNo].contains(options.delegate.ioCapability)
        {
            throw .adapter(.unsupported(.fixedPasskey))
        }
        var commands = [ManagementCommand.setIOCapability(options.delegate.ioCapability.rawValue)]
        if !supported.contains(.secureConnections) {
            if wanted == .only { throw .adapter(.unsupported(.secureConnections)) }
        } else if changesSecureConnections {
            // A dual-mode adapter refuses the one without the other.
            if changesSimplePairing { commands.append(.setSecureSimplePairing(true)) }
            commands.append(.setSecureConnections(wanted))
        }
        if changesBondable { commands.append(.setBondable(options.isBonding)) }
        return commands
    }

    /// What sets it back. IO capability cannot be read; the kernel begins with none.
    var tearDown: [ManagementCommand] {
        var commands = [ManagementCommand.setIOCapability(IOCapability.noInputNoOutput.rawValue)]
        if changesBondable { commands.append(.setBondable(!options.isBonding)) }
        if changesSecureConnections {
            commands.append(.setSecureConnections(before.contains(.secureConnections) ? .on : .off))
            if changesSimplePairing { commands.append(.setSecureSimplePairing(false)) }
        }
        return commands
    }

    private var wanted: Management.SecureConnections {
        switch options.secureConnections {
        case .off: .off
        case .preferred: .on
        case .only: .only
        }
    }
    private var changesBondable: Bool { options.isBonding != before.contains(.bondable) }
    private var changesSecureConnections: Bool {
        wanted == .only || (wanted == .on) != before.contains(.secureConnections)
    }
    private var changesSimplePairing: Bool {
        wanted != .off && before.contains(.classic) && !before.contains(.secureSimplePairing)
    }
}

/// The keys of earlier pairings, for the kernel. Of more than it takes, those that were used last.
struct KernelKeys {
    /// What the links are encrypted with.
    let encryption: [Management.LongTermKey]
    /// The keys that resolve the private addresses of peers.
    let identity: [Management.IdentityKey]
    /// The number of keys for which the list has no room.
    let leftOut: Int

    /// The keys of these bonds, for commands of at most so many octets.
    init(_ records: [BondRecord], within octets: Int = .max) {
        let bonds = records.sorted { $0.lastUsed > $1.lastUsed }.map(\.bond)
        let (all, identities) = (bonds.flatMap(\.kernelKeys), bonds.compactMap(\.kernelIdentityKey))
        encryption = Array(all.prefix(Management.LongTermKey.maximumCount(within: octets)))
        identity = Array(identities.prefix(Management.IdentityKey.maximumCount(within: octets)))
        leftOut = all.count + identities.count - encryption.count - identity.count
    }

    /// What gives them to the kernel. Loading identity keys, also none, is what makes it ask peers for theirs.
    var loading: [ManagementCommand] { [.loadLongTermKeys(encryption), .loadIdentityKeys(identity)] }
}
