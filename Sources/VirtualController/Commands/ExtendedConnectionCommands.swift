import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.66.
    static let extendedConnectionCommands: [CommandHandler] = [
        .perform(LEExtendedCreateConnection.self) { (controller, command, now) throws(HCIStatus) in
            try check(controller.settings.initiator == nil, .commandDisallowed)
            let phys = command.phys.phys
            try check(phys.isSubset(of: controller.phys), .unsupportedFeatureOrParameterValue)
            // One must be there on which advertising is announced.
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
