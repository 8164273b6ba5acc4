import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.10 and 7.8.11.
    static let scanCommands: [CommandHandler] = [
        .perform(LESetScanParameters.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.settings.scanner.isEnabled, .commandDisallowed)
            try check(command.type == .passive || command.type == .active)
            try check(interval: command.interval, window: command.window)
            try check(command.ownAddressType)
            try check(command.filterPolicy.rawValue <= 3)
            // That policy is for controllers that resolve addresses.
            try check(
                !command.filterPolicy.contains(.unresolvedDirected), .unsupportedFeatureOrParameterValue)
            controller.settings.scanner.parameters = command
        },
        .perform(LESetScanEnable.self) { (controller, command, now) throws(HCIStatus) in
            guard try value(of: command.enable) else { return controller.settings.scanner.stop() }
            let filters = try value(of: command.filterDuplicates)
            let address = try controller.ownAddress(controller.settings.scanner.parameters.ownAddressType)
            controller.settings.scanner.start(
                as: address, filteringDuplicates: filters ? controller.configuration.duplicateMemory : nil,
                at: now)
        },
    ]

    /// 2.5 ms to 10.24 s, the window within the interval.
    static func check(interval: Slots, window: Slots) throws(HCIStatus) {
        let range = Slots(rawValue: 0x0004)...Slots(rawValue: 0x4000)
        try check(range.contains(interval) && range.contains(window) && window <= interval)
    }
}
