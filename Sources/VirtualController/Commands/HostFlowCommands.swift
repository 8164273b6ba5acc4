import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.38 to 7.3.40.
    static let hostFlowCommands: [CommandHandler] = [
        .perform(SetControllerToHostFlowControl.self) { (controller, command, _) throws(HCIStatus) in
            try check(command.kinds.isSubset(of: [.acl, .synchronous]))
            let isOn = command.kinds.contains(.acl)
            guard isOn != controller.settings.hostFlow.isOn else { return }
            // It shall only change while there are no connections.
            try check(controller.links.isEmpty, .commandDisallowed)
            controller.settings.hostFlow.isOn = isOn
        },
        .perform(HostBufferSize.self) { (controller, command, _) throws(HCIStatus) in
            // Hosts must be able to take packets of 27 octets (4.1.1).
            try check(command.aclLength >= 27 && command.aclPackets > 0)
            try check(controller.links.isEmpty, .commandDisallowed)
            controller.settings.hostFlow.packetLength = Int(command.aclLength)
            controller.settings.hostFlow.packets = Int(command.aclPackets)
        },
        .perform(HostNumberOfCompletedPackets.self) { (controller, command, _) throws(HCIStatus) in
            // Otherwise it is ignored.
            guard controller.settings.hostFlow.isOn, !controller.links.isEmpty else { return }
            for completed in command.completed {
                _ = try controller.index(of: completed.connection, orElse: .invalidCommandParameters)
                try check(controller.settings.hostFlow.complete(completed))
            }
        },
    ]
}
