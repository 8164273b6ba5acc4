import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.12, 7.8.13, 7.8.18 and 7.1.6.
    static let connectionCommands: [CommandHandler] = [
        .perform(LECreateConnection.self) { (controller, command, now) throws(HCIStatus) in
            try check(controller.settings.initiator == nil, .commandDisallowed)
            try check(interval: command.scanInterval, window: command.scanWindow)
            try check(command.parameters.isInRange)
            try controller.initiate(
                command.filterPolicy, to: command.peer, as: command.ownAddressType,
                PerPHY(
                    le1M: .init(
                        scanInterval: command.scanInterval, scanWindow: command.scanWindow,
                        parameters: command.parameters)), at: now)
        },
        .perform(LECreateConnectionCancel.self) { (controller, _, _) throws(HCIStatus) in
            try check(controller.settings.initiator != nil, .commandDisallowed)
            controller.settings.initiator = nil
            controller.reportNoConnection(.unknownConnectionIdentifier, as: .central)
        },
        .perform(LEConnectionUpdate.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try check(command.parameters.isInRange)
            let isCentral = controller.links[index].role == .central
            try check(isCentral || controller.isExtended, .unsupportedRemoteFeature)
            // A pending request of the peer must be answered first.
            try check(controller.links[index].question == nil, .commandDisallowed)
            try controller.begin(.update, on: index)
            controller.send(
                isCentral
                    ? .update(LinkTiming(command.parameters)) : .parameterRequest(command.parameters),
                on: index)
        },
        .perform(Disconnect.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try check(disconnectReasons.contains(command.reason))
            try check(!controller.links[index].isEnding, .commandDisallowed)
            controller.send(.terminate(command.reason), on: index)
            controller.links[index].ending = .connectionTerminatedByLocalHost
            controller.flush(index)
        },
    ]

    /// The reasons that a host can pass to Disconnect (7.1.6).
    private static let disconnectReasons: Set<HCIStatus> = [
        .authenticationFailure, .remoteUserTerminatedConnection, .remoteDeviceTerminatedLowResources,
        .remoteDeviceTerminatedPowerOff, .unsupportedRemoteFeature, .pairingWithUnitKeyNotSupported,
        .unacceptableConnectionParameters,
    ]

    /// Begins to listen for the requested advertiser, after the caller has checked the other parameters of
    /// the command.
    mutating func initiate(
        _ policy: InitiatorFilterPolicy, to peer: HCIAddress, as type: OwnAddressType,
        _ phys: PerPHY<LEExtendedCreateConnection.Initiating>, at now: Instant
    ) throws(HCIStatus) {
        let wanted: DeviceAddress?
        switch policy {
        case .peer: wanted = try checked(peer)
        case .acceptList: wanted = nil
        default: throw .invalidCommandParameters
        }
        let address = try ownAddress(type, towards: wanted, at: now)
        try Self.check(links.count < configuration.maximumConnections, .connectionLimitExceeded)
        settings.initiator = Initiator(
            peer: wanted, phys: phys, address: address, addressType: type, start: now)
    }

    /// Returns the address of a peer. Rejects an unknown address type, an identity address on a controller
    /// without privacy, and a peer that is already connected.
    private func checked(_ peer: HCIAddress) throws(HCIStatus) -> DeviceAddress {
        switch peer.type {
        case .public, .random: break
        case .publicIdentity, .randomIdentity:
            try Self.check(hasPrivacy, .unsupportedFeatureOrParameterValue)
        default: throw .invalidCommandParameters
        }
        guard let address = peer.deviceAddress else { throw .invalidCommandParameters }
        try Self.check(!isConnected(to: address), .connectionAlreadyExists)
        return address
    }

    /// Records that the host has started a procedure; throws if the same procedure is already pending.
    mutating func begin(_ procedure: Link.Procedure, on index: Int) throws(HCIStatus) {
        guard !links[index].isEnding, links[index].pending.insert(procedure).inserted else {
            throw .commandDisallowed
        }
    }
}

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.66.
    static let extendedConnectionCommands: [CommandHandler] = [
        .perform(LEExtendedCreateConnection.self) { (controller, command, now) throws(HCIStatus) in
            try check(controller.settings.initiator == nil, .commandDisallowed)
            let phys = command.phys.phys
            try check(phys.isSubset(of: controller.phys), .unsupportedFeatureOrParameterValue)
            // At least one primary advertising PHY is required.
            try check(!phys.isDisjoint(with: [.le1M, .leCoded]))
            for phy in [PHYSet.le1M, .le2M, .leCoded] {
                guard let initiating = command.phys[phy] else { continue }
                if phy != .le2M {
                    try check(
                        interval: initiating.scanInterval, window: initiating.scanWindow,
                        upTo: Slots(rawValue: .max))
                }
                try check(initiating.parameters.isInRange)
            }
            try controller.initiate(
                command.filterPolicy, to: command.peer, as: command.ownAddressType, command.phys, at: now)
        }
    ]
}
