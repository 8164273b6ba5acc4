import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.10 and 7.8.11.
    static let scanCommands: [CommandHandler] = [
        .perform(LESetScanParameters.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.settings.scanner.isEnabled, .commandDisallowed)
            try check(command.type == .passive || command.type == .active)
            try check(interval: command.interval, window: command.window)
            try controller.check(command.ownAddressType)
            try controller.check(command.filterPolicy)
            controller.settings.scanner.parameters = LESetExtendedScanParameters(
                ownAddressType: command.ownAddressType, filterPolicy: command.filterPolicy,
                phys: PerPHY(
                    le1M: .init(type: command.type, interval: command.interval, window: command.window)))
        },
        .perform(LESetScanEnable.self) { (controller, command, now) throws(HCIStatus) in
            guard try value(of: command.enable) else { return controller.settings.scanner.stop() }
            let filters = try value(of: command.filterDuplicates)
            let address = try controller.ownAddress(controller.settings.scanner.parameters.ownAddressType)
            controller.settings.scanner.start(
                as: address, filtering: filters ? .on : .off,
                memory: controller.configuration.duplicateMemory, at: now)
        },
    ]

    /// Rejects unknown policies and, on controllers without privacy, the policies for private addresses.
    func check(_ policy: ScanFilterPolicy) throws(HCIStatus) {
        try Self.check(policy.rawValue <= 3)
        try Self.check(
            hasPrivacy || !policy.contains(.unresolvedDirected), .unsupportedFeatureOrParameterValue)
    }

    /// Checks that the interval and the window are 2.5 ms to 10.24 s, or to 40.96 s for extended commands,
    /// and that the window does not exceed the interval.
    static func check(
        interval: Slots, window: Slots, upTo limit: Slots = Slots(rawValue: 0x4000)
    ) throws(HCIStatus) {
        let range = Slots(rawValue: 0x0004)...limit
        try check(range.contains(interval) && range.contains(window) && window <= interval)
    }
}

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.64 and 7.8.65.
    static let extendedScanCommands: [CommandHandler] = [
        .perform(LESetExtendedScanParameters.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.settings.scanner.isEnabled, .commandDisallowed)
            try controller.check(command.ownAddressType)
            try controller.check(command.filterPolicy)
            // LE 2M is not a primary advertising PHY, so its bit is reserved in this command.
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
            // The period is ignored without a duration.
            try check(duration == .zero || period == .zero || duration < period)
            let address = try controller.ownAddress(controller.settings.scanner.parameters.ownAddressType)
            controller.settings.scanner.start(
                as: address, filtering: command.filterDuplicates,
                memory: controller.configuration.duplicateMemory, for: duration, every: period, at: now)
        },
    ]
}
