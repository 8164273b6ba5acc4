import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77.
    static let privacyCommands: [CommandHandler] = [
        .perform(LEAddDeviceToResolvingList.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.usesResolvingList, .commandDisallowed)
            let identity = try identity(command.peer)
            let entries = controller.settings.resolvingList.entries
            let known = entries.first {
                $0.identity == identity || $0.peerKey == command.peerKey && command.peerKey != 0
            }
            if let known {
                // Adding an identical entry again succeeds; a different entry for the same peer or with the
                // same key is refused.
                return try check(
                    known.identity == identity && known.peerKey == command.peerKey
                        && known.localKey == command.localKey)
            }
            try check(
                entries.count < Int(controller.configuration.resolvingListSize), .memoryCapacityExceeded)
            controller.settings.resolvingList.append(
                ResolvingList.Entry(identity, peerKey: command.peerKey, localKey: command.localKey))
        },
        .perform(LERemoveDeviceFromResolvingList.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.usesResolvingList, .commandDisallowed)
            controller.settings.resolvingList.remove(at: try controller.entry(of: command.peer))
        },
        .perform(LEClearResolvingList.self) { (controller, _, _) throws(HCIStatus) in
            try check(!controller.usesResolvingList, .commandDisallowed)
            controller.settings.resolvingList.removeAll()
        },
        .answer(LEReadResolvingListSize.self) { controller, _, _ in
            Returned(controller.configuration.resolvingListSize)
        },
        .answer(LEReadPeerResolvableAddress.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.entry(of: command.peer)
            guard let address = controller.settings.resolvingList.entries[index].peerAddress else {
                throw .unknownConnectionIdentifier
            }
            return ReturnedResolvableAddress(address: address)
        },
        .answer(LEReadLocalResolvableAddress.self) { (controller, command, now) throws(HCIStatus) in
            let identity = try identity(command.peer)
            let address = controller.settings.resolvingList.ownAddress(
                towards: identity, at: now, &controller.random)
            guard let address else { throw .unknownConnectionIdentifier }
            return ReturnedResolvableAddress(address: address)
        },
        .perform(LESetAddressResolutionEnable.self) { (controller, command, _) throws(HCIStatus) in
            let enable = try value(of: command.enable)
            try check(!controller.isOnAir, .commandDisallowed)
            controller.settings.resolvingList.isEnabled = enable
        },
        .perform(LESetResolvablePrivateAddressTimeout.self) { (controller, command, _) throws(HCIStatus) in
            try check((1...3600).contains(command.seconds))
            controller.settings.resolvingList.timeout = .seconds(Int64(command.seconds))
        },
        .perform(LESetPrivacyMode.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.usesResolvingList, .commandDisallowed)
            try check(command.mode == .network || command.mode == .device)
            let index = try controller.entry(of: command.peer)
            controller.settings.resolvingList.setMode(command.mode, at: index)
        },
    ]

    /// Whether a procedure that uses addresses is in progress.
    private var isOnAir: Bool {
        settings.advertisers.contains(where: \.isEnabled) || settings.scanner.isEnabled
            || settings.initiator != nil || settings.syncRequest != nil
    }

    /// Whether the list must not change. While address resolution is disabled, it can change at any time.
    private var usesResolvingList: Bool { settings.resolvingList.isEnabled && isOnAir }

    /// Returns the index of a peer in the list.
    private func entry(of peer: HCIAddress) throws(HCIStatus) -> Int {
        guard let index = settings.resolvingList.index(of: try Self.identity(peer)) else {
            throw .unknownConnectionIdentifier
        }
        return index
    }

    /// Returns an identity address, which is public or random static; throws for any other address.
    private static func identity(_ peer: HCIAddress) throws(HCIStatus) -> DeviceAddress {
        guard peer.type == .public || peer.type == .random, let address = peer.deviceAddress,
            address.kind == .public || address.kind == .static
        else { throw .invalidCommandParameters }
        return address
    }
}
