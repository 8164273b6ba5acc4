import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.12, 7.8.13, 7.8.18 and 7.1.6.
    static let connectionCommands: [CommandHandler] = [
        .perform(LECreateConnection.self) { (controller, command, now) throws(HCIStatus) in
            try check(controller.settings.initiator == nil, .commandDisallowed)
            try check(interval: command.scanInterval, window: command.scanWindow)
            try check(command.parameters.isInRange)
            switch command.filterPolicy {
            case .peer: try controller.checkPeer(command.peer)
            case .acceptList: break
            default: throw .invalidCommandParameters
            }
            let address = try controller.ownAddress(command.ownAddressType)
            try check(
                controller.links.count < controller.configuration.maximumConnections,
                .connectionLimitExceeded)
            controller.settings.initiator = Initiator(command: command, address: address, start: now)
        },
        .perform(LECreateConnectionCancel.self) { (controller, _, _) throws(HCIStatus) in
            try check(controller.settings.initiator != nil, .commandDisallowed)
            controller.settings.initiator = nil
            controller.tellNoConnection(.unknownConnectionIdentifier, as: .central)
        },
        .perform(LEConnectionUpdate.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try check(command.parameters.isInRange)
            // A peripheral would need the Connection Parameters Request procedure.
            try check(controller.links[index].role == .central, .unsupportedRemoteFeature)
            try controller.begin(.update, on: index)
            controller.send(
                .update(
                    LinkTiming(
                        interval: command.parameters.intervalMin, latency: command.parameters.latency,
                        supervisionTimeout: command.parameters.supervisionTimeout)), on: index)
        },
        .perform(Disconnect.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try check(disconnectReasons.contains(command.reason))
            try check(!controller.links[index].isEnding, .commandDisallowed)
            controller.send(.terminate(command.reason), on: index)
            controller.links[index].isEnding = true
            controller.flush(index)
        },
    ]

    /// What a host may tell its peer (7.1.6).
    private static let disconnectReasons: Set<HCIStatus> = [
        .authenticationFailure, .remoteUserTerminatedConnection, .remoteDeviceTerminatedLowResources,
        .remoteDeviceTerminatedPowerOff, .unsupportedRemoteFeature, .pairingWithUnitKeyNotSupported,
        .unacceptableConnectionParameters,
    ]

    /// Refuses a peer of no type, one that would have to be resolved, and one that is connected.
    private func checkPeer(_ peer: HCIAddress) throws(HCIStatus) {
        switch peer.type {
        case .public, .random: break
        case .publicIdentity, .randomIdentity: throw .unsupportedFeatureOrParameterValue
        default: throw .invalidCommandParameters
        }
        guard let address = peer.deviceAddress else { throw .invalidCommandParameters }
        try Self.check(!isConnected(to: address), .connectionAlreadyExists)
    }

    /// Notes that the host waits for a procedure's end; it cannot wait for the same twice.
    mutating func begin(_ procedure: Link.Procedure, on index: Int) throws(HCIStatus) {
        guard !links[index].isEnding, links[index].pending.insert(procedure).inserted else {
            throw .commandDisallowed
        }
    }
}
