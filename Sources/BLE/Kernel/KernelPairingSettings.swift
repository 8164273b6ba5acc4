import BLECore
import HCISocket
import SMP

/// The settings of a kernel adapter for pairing, and the commands that apply and undo them.
struct KernelPairingSettings {
    let options: SecurityOptions
    /// The settings of the adapter before the change.
    let before: Management.Settings

    /// Returns the commands that apply the settings. Throws when the adapter does not support one that is
    /// required.
    func setUp(_ supported: Management.Settings) throws(BLEError) -> [ManagementCommand] {
        if options.asksForOutOfBandData || options.outOfBandOffer != nil {
            throw .adapter(.unsupported(.outOfBandPairing))
        }
        // If the passkey can also be entered, the peer decides; a warning is logged when the kernel shows
        // another one.
        if options.fixedPasskey != nil, [.displayOnly, .displayYesNo].contains(options.delegate.ioCapability)
        {
            throw .adapter(.unsupported(.fixedPasskey))
        }
        var commands = [ManagementCommand.setIOCapability(ioCapability.rawValue)]
        if !supported.contains(.secureConnections) {
            if wanted == .only { throw .adapter(.unsupported(.secureConnections)) }
        } else if changesSecureConnections {
            // A dual-mode adapter refuses Secure Connections without Secure Simple Pairing.
            if changesSimplePairing { commands.append(.setSecureSimplePairing(true)) }
            commands.append(.setSecureConnections(wanted))
        }
        if changesBondable { commands.append(.setBondable(options.isBonding)) }
        return commands
    }

    /// The commands that undo the settings. The IO capability cannot be read; the kernel starts with no input
    /// and no output.
    var tearDown: [ManagementCommand] {
        var commands = [ManagementCommand.setIOCapability(IOCapability.noInputNoOutput.rawValue)]
        if changesBondable { commands.append(.setBondable(!options.isBonding)) }
        if changesSecureConnections {
            commands.append(.setSecureConnections(before.contains(.secureConnections) ? .on : .off))
            if changesSimplePairing { commands.append(.setSecureSimplePairing(false)) }
        }
        return commands
    }

    /// The capability that the kernel uses. The kernel's key of a numeric comparison is authenticated, so there is
    /// none if no person compares the numbers. As a device with a display alone, it would request authentication, and
    /// refuse Just Works with the devices that requested it as well (smp_cmd_pairing_req).
    private var ioCapability: IOCapability {
        switch options.delegate.ioCapability {
        case .displayYesNo where !options.delegate.comparesNumbers: .noInputNoOutput
        case .keyboardDisplay where !options.delegate.comparesNumbers: .keyboardOnly
        case let other: other
        }
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

/// The keys of earlier pairings for the kernel. If there are more than it accepts, those of the most recently
/// used bonds.
struct KernelKeys {
    /// The keys with which links are encrypted.
    let encryption: [Management.LongTermKey]
    /// The keys that resolve the private addresses of peers.
    let identity: [Management.IdentityKey]
    /// The number of keys for which the list has no room.
    let leftOut: Int

    /// Selects the keys of these bonds for commands of at most `octets` octets.
    init(_ records: [BondRecord], within octets: Int = .max) {
        let bonds = records.sorted { $0.lastUsed > $1.lastUsed }.map(\.bond)
        let (all, identities) = (bonds.flatMap(\.kernelKeys), bonds.compactMap(\.kernelIdentityKey))
        encryption = Array(all.prefix(Management.LongTermKey.maximumCount(within: octets)))
        identity = Array(identities.prefix(Management.IdentityKey.maximumCount(within: octets)))
        leftOut = all.count + identities.count - encryption.count - identity.count
    }

    /// The commands that load the keys. The kernel requests the identity keys of peers only after a list of
    /// identity keys was loaded, even an empty one.
    var loading: [ManagementCommand] { [.loadLongTermKeys(encryption), .loadIdentityKeys(identity)] }
}
