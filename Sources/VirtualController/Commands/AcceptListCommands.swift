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
            let device = try address(of: command.device)
            guard !controller.settings.acceptList.contains(device) else { return }
            try check(
                controller.settings.acceptList.count < Int(controller.configuration.acceptListSize),
                .memoryCapacityExceeded)
            controller.settings.acceptList.append(device)
        },
        .perform(LERemoveDeviceFromFilterAcceptList.self) {
            (controller, command, _) throws(HCIStatus) in
            try check(!controller.usesAcceptList, .commandDisallowed)
            let device = try address(of: command.device)
            controller.settings.acceptList.removeAll { $0 == device }
        },
    ]

    /// Whether something goes on that the list filters, so that it must not change.
    private var usesAcceptList: Bool {
        let (advertiser, scanner) = (settings.advertiser, settings.scanner)
        return advertiser.isEnabled && !advertiser.parameters.filterPolicy.isEmpty
            || scanner.isEnabled && scanner.parameters.filterPolicy.contains(.acceptListOnly)
            || settings.initiator?.command.filterPolicy == .acceptList
    }

    /// A device that can be on the list. Anonymous advertisers are of the extended family.
    private static func address(of device: HCIAddress) throws(HCIStatus) -> DeviceAddress {
        guard device.type == .public || device.type == .random, let address = device.deviceAddress else {
            throw .invalidCommandParameters
        }
        return address
    }
}
