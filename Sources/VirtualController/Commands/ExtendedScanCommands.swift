import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.64 and 7.8.65.
    static let extendedScanCommands: [CommandHandler] = [
        .perform(LESetExtendedScanParameters.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.settings.scanner.isEnabled, .commandDisallowed)
            try controller.check(command.ownAddressType)
            try controller.check(command.filterPolicy)
            // There is nothing to scan for on LE 2M, whose bit is reserved here.
            try check(
                command.phys.phys.isSubset(of: controller.phys.subtracting(.le2M)),
                .unsupportedFeatureOrParameterValue)
            try check(!command.phys.phys.isEmpty)
            for phy in [PHYSet.le1M, .leCoded] {
                guard let scanning = command.phys[phy] else { continue }
                try check(scanning.type == .passive || scanning.type == .active)
                try check(
                    interval: scanning.interval, window: scanning.window, upTo: Slots(rawValue: .max))
            }
            controller.settings.scanner.parameters = command
        },
        .perform(LESetExtendedScanEnable.self) { (controller, command, now) throws(HCIStatus) in
            guard try value(of: command.enable) else { return controller.settings.scanner.stop() }
            try check(command.filterDuplicates.rawValue <= 2)
            let (duration, period) = (command.duration.duration, command.period.duration)
            try check(command.filterDuplicates != .eachPeriod || duration > .zero && period > .zero)
            // Without a duration the period means nothing.
            try check(duration == .zero || period == .zero || duration < period)
            let address = try controller.ownAddress(controller.settings.scanner.parameters.ownAddressType)
            controller.settings.scanner.start(
                as: address, filtering: command.filterDuplicates,
                memory: controller.configuration.duplicateMemory, for: duration, every: period, at: now)
        },
    ]
}
