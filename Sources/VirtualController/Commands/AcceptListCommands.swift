import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.14 to 7.8.17.
    static let acceptListCommands: [CommandHandler] = [
        .answer(LEReadFilterAcceptListSize.self) { controller, _, _ in
            Returned(controller.configuration.acceptListSize)
        },
        .perform(LEClearFilterAcceptList.self) { (controller, _, _) throws(HCIStatus) in
            try check(!controller.usesAcceptList, .commandDisallowed)
            controller.settings.acceptList.removeAll()
        },
        .perform(LEAddDeviceToFilterAcceptList.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.usesAcceptList, .commandDisallowed)
            let device = try controller.listed(command.device)
            guard !controller.settings.acceptList.contains(device) else { return }
            try check(
                controller.settings.acceptList.count < Int(controller.configuration.acceptListSize),
                .memoryCapacityExceeded)
            controller.settings.acceptList.append(device)
        },
        .perform(LERemoveDeviceFromFilterAcceptList.self) {
            (controller, command, _) throws(HCIStatus) in
            try check(!controller.usesAcceptList, .commandDisallowed)
            let device = try controller.listed(command.device)
            controller.settings.acceptList.removeAll { $0 == device }
        },
    ]

    /// Whether a procedure in progress uses the list, so that the list must not change.
    private var usesAcceptList: Bool {
        let scanner = settings.scanner
        return settings.advertisers.contains { $0.isEnabled && !$0.parameters.filterPolicy.isEmpty }
            || scanner.isEnabled && scanner.parameters.filterPolicy.contains(.acceptListOnly)
            || settings.initiator.map { $0.peer == nil } ?? false
    }

    /// Returns the list entry of a device: nil for anonymous advertisers, which only extended scanners
    /// receive.
    private func listed(_ device: HCIAddress) throws(HCIStatus) -> DeviceAddress? {
        if device.type == .anonymous, isExtended { return nil }
        guard device.type == .public || device.type == .random, let address = device.deviceAddress else {
            throw .invalidCommandParameters
        }
        return address
    }
}
