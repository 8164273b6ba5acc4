import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.3 and 7.8.1.
    static let controllerCommands: [CommandHandler] = [
        .perform(Reset.self) { controller, _, _ in controller.reset() },
        .perform(SetEventMask.self) { controller, command, _ in
            controller.settings.eventMask = command.mask
        },
        .perform(SetEventMaskPage2.self) { controller, command, _ in
            controller.settings.eventMaskPage2 = command.mask
        },
        .perform(LESetEventMask.self) { controller, command, _ in
            controller.settings.leEventMask = command.mask
        },
        .perform(LESetRandomAddress.self) { (controller, command, _) throws(HCIStatus) in
            let settings = controller.settings
            try check(
                !settings.advertiser.isEnabled && !settings.scanner.isEnabled && settings.initiator == nil,
                .commandDisallowed)
            controller.settings.randomAddress = command.address
        },
    ]

    /// Core Specification 5.4, Vol 4, Part E, 7.4 and 7.8.
    static let informationCommands: [CommandHandler] = [
        .answer(ReadLocalVersionInformation.self) { controller, _, _ in
            let configuration = controller.configuration
            return ReadLocalVersionInformation.ReturnParameters(
                hciVersion: configuration.version, hciSubversion: configuration.subversion,
                lmpVersion: configuration.version, company: configuration.company,
                lmpSubversion: configuration.subversion)
        },
        .answer(ReadLocalSupportedCommands.self) { controller, _, _ in
            // In any order: each command has its bit.
            Returned(SupportedCommands(handlers.keys.filter(controller.supports)))
        },
        .answer(ReadLocalSupportedFeatures.self) { _, _, _ in
            Returned([.brEDRNotSupported, .leSupported])
        },
        .answer(ReadBDADDR.self) { controller, _, _ in
            ReadBDADDR.ReturnParameters(
                address: controller.configuration.publicAddress ?? DeviceAddress(0, type: .public))
        },
        .answer(ReadBufferSize.self) { controller, _, _ in
            ReadBufferSize.ReturnParameters(
                aclLength: controller.configuration.aclPacketLength,
                aclPackets: UInt16(controller.configuration.aclPackets))
        },
        .answer(LEReadBufferSize.self) { controller, _, _ in
            controller.configuration.sharesBuffers
                ? LEReadBufferSize.ReturnParameters(aclLength: 0, aclPackets: 0)
                : LEReadBufferSize.ReturnParameters(
                    aclLength: controller.configuration.aclPacketLength,
                    aclPackets: controller.configuration.aclPackets)
        },
        .answer(LEReadLocalSupportedFeatures.self) { controller, _, _ in Returned(controller.features) },
        // All combinations of states and roles of the legacy commands, bits 0 to 41.
        .answer(LEReadSupportedStates.self) { _, _, _ in Returned(0x3ff_ffff_ffff) },
    ]
}

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.38 to 7.3.40.
    static let hostFlowCommands: [CommandHandler] = [
        .perform(SetControllerToHostFlowControl.self) { (controller, command, _) throws(HCIStatus) in
            try check(command.kinds.isSubset(of: [.acl, .synchronous]))
            let isOn = command.kinds.contains(.acl)
            guard isOn != controller.settings.hostFlow.isOn else { return }
            // Flow control can change only while there are no connections.
            try check(controller.links.isEmpty, .commandDisallowed)
            controller.settings.hostFlow.isOn = isOn
        },
        .perform(HostBufferSize.self) { (controller, command, _) throws(HCIStatus) in
            // Hosts must be able to receive packets of 27 octets (4.1.1).
            try check(command.aclLength >= 27 && command.aclPackets > 0)
            try check(controller.links.isEmpty, .commandDisallowed)
            controller.settings.hostFlow.packetLength = Int(command.aclLength)
            controller.settings.hostFlow.packets = Int(command.aclPackets)
        },
        .perform(HostNumberOfCompletedPackets.self) { (controller, command, _) throws(HCIStatus) in
            // Without flow control or connections, the command is ignored.
            guard controller.settings.hostFlow.isOn, !controller.links.isEmpty else { return }
            for completed in command.completed {
                _ = try controller.index(of: completed.connection, orElse: .invalidCommandParameters)
                try check(controller.settings.hostFlow.complete(completed))
            }
        },
    ]
}
