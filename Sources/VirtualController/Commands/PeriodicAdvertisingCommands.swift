import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.61 to 7.8.63.
    static let periodicAdvertisingCommands: [CommandHandler] = [
        .perform(LESetPeriodicAdvertisingParameters.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.set)
            var own = controller.settings.advertisers[index]
            try check(command.intervalMin.rawValue >= 6 && command.intervalMin <= command.intervalMax)
            try check(command.properties.isSubset(of: .includesTxPower))
            try check(own.properties.allowTrain)
            try check(own.train?.isEnabled != true, .commandDisallowed)
            own.train = own.train ?? TrainSender(command)
            own.train?.parameters = command
            try check(own.trainFits, .packetTooLong)
            controller.settings.advertisers[index] = own
        },
        .perform(LESetPeriodicAdvertisingData.self) { (controller, command, _) throws(HCIStatus) in
            let fragment = command.fragment
            let index = try controller.index(of: fragment.set)
            guard var train = controller.settings.advertisers[index].train else { throw .commandDisallowed }
            try check(fragment, train)
            try train.data.take(fragment.operation, fragment.data)
            train.dataID = controller.otherDataID(than: train.dataID)
            controller.settings.advertisers[index].train = train
            let refusal: HCIStatus? =
                if train.data.octets.count > controller.advertisingDataLimit {
                    .memoryCapacityExceeded
                } else if !controller.settings.advertisers[index].trainFits {
                    .packetTooLong
                } else {
                    nil
                }
            guard let refusal else { return }
            // All data of the train are discarded.
            controller.settings.advertisers[index].train?.data.discard()
            throw refusal
        },
        .perform(LESetPeriodicAdvertisingEnable.self) { (controller, command, now) throws(HCIStatus) in
            let index = try controller.index(of: command.set)
            try check(
                command.enable.isSubset(of: [.on, .includesADI]), .unsupportedFeatureOrParameterValue)
            let own = controller.settings.advertisers[index]
            guard command.enable.contains(.on) else {
                controller.settings.advertisers[index].train?.disable()
                return
            }
            guard let train = own.train, !train.data.isPartial, own.properties.allowTrain else {
                throw .commandDisallowed
            }
            try check(own.trainFits, .packetTooLong)
            controller.settings.advertisers[index].train?.enable(
                includingADI: command.enable.contains(.includesADI))
            controller.beginTrain(of: index, at: now)
        },
    ]

    /// Rejects unknown operations, and fragments that would leave an enabled train with partial data.
    private static func check(
        _ fragment: PeriodicAdvertisingDataFragment, _ train: TrainSender
    ) throws(HCIStatus) {
        let (operation, count) = (fragment.operation, fragment.data.count)
        try check(operation.rawValue <= AdvertisingDataFragment.Operation.unchanged.rawValue)
        try check(count <= PeriodicAdvertisingDataFragment.capacity)
        if operation == .unchanged {
            return try check(train.isEnabled && !train.data.isEmpty && count == 0)
        }
        try check(operation == .complete || count > 0)
        try check(operation == .complete || !train.isEnabled, .commandDisallowed)
    }
}

extension Advertiser {
    /// Whether the packets of the train can be sent within its interval.
    fileprivate var trainFits: Bool {
        guard let train else { return true }
        return AdvertisingChain.periodic.duration(of: train.data.octets.count, on: parameters.secondaryPHY)
            <= train.room
    }
}

extension Advertiser.Parameters.Properties {
    /// Whether a set with these properties can have a periodic train (7.8.61).
    var allowTrain: Bool { isDisjoint(with: [.legacy, .connectable, .scannable, .anonymous]) }
}
