import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.67 to 7.8.69 and 7.8.88.
    static let periodicSyncCommands: [CommandHandler] = [
        .perform(LEPeriodicAdvertisingCreateSync.self) { (controller, command, _) throws(HCIStatus) in
            try check(controller.settings.syncRequest == nil, .commandDisallowed)
            let options = command.options
            try check(options.rawValue <= 7 && command.skip <= 499)
            try check((0x000a...0x4000).contains(command.timeout.rawValue))
            // In this simulation, all packets are without a constant tone extension.
            try check(command.excluded.rawValue & 0x1f != 0x1f, .commandDisallowed)
            try check(command.excluded.rawValue <= 0x1f)
            var advertiser: DeviceAddress?
            if !options.contains(.advertiserList) {
                let wanted = try listed(
                    PeriodicAdvertiser(address: command.advertiser, sid: command.sid))
                try check(
                    controller.follower(of: wanted.address, wanted.sid) == nil, .connectionAlreadyExists)
                advertiser = wanted.address
            }
            let limit = Int(controller.configuration.extended?.periodicSyncs ?? 0)
            try check(controller.settings.followers.count < limit, .memoryCapacityExceeded)
            var reports: LESetPeriodicAdvertisingReceiveEnable.Enable =
                options.contains(.withoutReports) ? [] : .reports
            if options.contains(.filterDuplicates) { reports.insert(.filterDuplicates) }
            controller.settings.syncRequest = SyncRequest(
                advertiser: advertiser, sid: command.sid, skip: command.skip,
                timeout: command.timeout.duration, reports: reports,
                excludesPlain: command.excluded.contains(.none))
        },
        .perform(LEPeriodicAdvertisingCreateSyncCancel.self) { (controller, _, _) throws(HCIStatus) in
            try check(controller.settings.syncRequest != nil, .commandDisallowed)
            controller.settings.syncRequest = nil
            controller.settings.followers.removeAll { !$0.isEstablished }
            controller.reportSync(.operationCancelledByHost)
        },
        .perform(LEPeriodicAdvertisingTerminateSync.self) { (controller, command, _) throws(HCIStatus) in
            controller.settings.followers.remove(at: try controller.index(of: command.sync))
        },
        .perform(LESetPeriodicAdvertisingReceiveEnable.self) {
            (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.sync)
            try check(
                command.enable.isSubset(of: [.reports, .filterDuplicates]),
                .unsupportedFeatureOrParameterValue)
            controller.settings.followers[index].reports = command.enable
            controller.settings.followers[index].lastData = nil
        },
    ]

    /// Core Specification 5.4, Vol 4, Part E, 7.8.70 to 7.8.73.
    static let periodicListCommands: [CommandHandler] = [
        .perform(LEAddDeviceToPeriodicAdvertiserList.self) { (controller, command, _) throws(HCIStatus) in
            try check(controller.settings.syncRequest == nil, .commandDisallowed)
            let advertiser = try listed(command.advertiser)
            try check(!controller.settings.periodicList.contains(advertiser))
            try check(
                controller.settings.periodicList.count < controller.periodicListSize, .memoryCapacityExceeded)
            controller.settings.periodicList.append(advertiser)
        },
        .perform(LERemoveDeviceFromPeriodicAdvertiserList.self) {
            (controller, command, _) throws(HCIStatus) in
            try check(controller.settings.syncRequest == nil, .commandDisallowed)
            let advertiser = try listed(command.advertiser)
            guard let index = controller.settings.periodicList.firstIndex(of: advertiser) else {
                throw .unknownAdvertisingIdentifier
            }
            controller.settings.periodicList.remove(at: index)
        },
        .perform(LEClearPeriodicAdvertiserList.self) { (controller, _, _) throws(HCIStatus) in
            try check(controller.settings.syncRequest == nil, .commandDisallowed)
            controller.settings.periodicList.removeAll()
        },
        .answer(LEReadPeriodicAdvertiserListSize.self) { controller, _, _ in
            Returned(UInt8(clamping: controller.periodicListSize))
        },
    ]

    private var periodicListSize: Int { Int(configuration.extended?.periodicAdvertiserListSize ?? 0) }

    /// Returns the list entry of a set; throws for an invalid address or SID.
    private static func listed(_ advertiser: PeriodicAdvertiser) throws(HCIStatus) -> ListedAdvertiser {
        guard advertiser.address.type == .public || advertiser.address.type == .random,
            let address = advertiser.address.deviceAddress, advertiser.sid <= 0x0f
        else { throw .invalidCommandParameters }
        return ListedAdvertiser(address: address, sid: advertiser.sid)
    }

    /// Returns the index of a train with an established synchronization.
    private func index(of sync: SyncHandle) throws(HCIStatus) -> Int {
        let index = settings.followers.firstIndex { $0.handle == sync && $0.isEstablished }
        guard let index else { throw .unknownAdvertisingIdentifier }
        return index
    }
}
