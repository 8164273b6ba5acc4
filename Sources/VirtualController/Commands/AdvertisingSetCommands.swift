import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.52, 7.8.53, 7.8.56 to 7.8.60 and 7.8.74.
    static let advertisingSetCommands: [CommandHandler] = [
        .perform(LESetAdvertisingSetRandomAddress.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.set)
            let own = controller.settings.advertisers[index]
            try check(!own.isEnabled || !own.properties.contains(.connectable), .commandDisallowed)
            controller.settings.advertisers[index].randomAddress = command.address
        },
        .answer(LESetExtendedAdvertisingParameters.self) { (controller, command, _) throws(HCIStatus) in
            try controller.check(command)
            let found = controller.settings.advertisers.firstIndex { $0.handle == command.set }
            if found == nil {
                try check(
                    controller.settings.advertisers.count - 1 < controller.advertisingSetLimit,
                    .memoryCapacityExceeded)
            }
            var own = found.map { controller.settings.advertisers[$0] } ?? Advertiser(command)
            try check(!own.isEnabled, .commandDisallowed)
            if let train = own.train, train.isEnabled {
                try check(command.properties.allowTrain)
                try check(train.train.map { $0.phy == command.secondaryPHY } ?? true, .commandDisallowed)
            }
            own.parameters = command
            let power = controller.power(command.txPower)
            own.power = power
            try check(own)
            if let found {
                controller.settings.advertisers[found] = own
            } else {
                controller.settings.advertisers.append(own)
            }
            return Returned(power)
        },
        .perform(LESetExtendedAdvertisingEnable.self) { (controller, command, now) throws(HCIStatus) in
            let enable = try value(of: command.enable)
            try check(command.sets.count <= 0x3f && (!enable || !command.sets.isEmpty))
            var places: [Int] = []
            for entry in command.sets {
                let index = try controller.index(of: entry.set)
                try check(!places.contains(index))
                places.append(index)
            }
            guard enable else {
                return controller.stop(command.sets.isEmpty ? nil : places)
            }
            // Either all sets start, or none.
            var addresses: [DeviceAddress] = []
            for (index, entry) in zip(places, command.sets) {
                addresses.append(try controller.checkedStart(of: index, entry, at: now))
            }
            for (place, index) in places.enumerated() {
                let entry = command.sets[place]
                controller.settings.advertisers[index].start(
                    as: addresses[place], at: now,
                    for: entry.duration.rawValue == 0 ? nil : entry.duration.duration,
                    events: entry.maxEvents)
                controller.beginTrain(of: index, at: now)
            }
        },
        .answer(LEReadMaximumAdvertisingDataLength.self) { controller, _, _ in
            Returned(UInt16(controller.advertisingDataLimit))
        },
        .answer(LEReadNumberOfSupportedAdvertisingSets.self) { controller, _, _ in
            Returned(UInt8(controller.advertisingSetLimit))
        },
        .perform(LERemoveAdvertisingSet.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.set)
            try check(!controller.settings.advertisers[index].isSent, .commandDisallowed)
            controller.settings.advertisers.remove(at: index)
        },
        .perform(LEClearAdvertisingSets.self) { (controller, _, _) throws(HCIStatus) in
            try check(!controller.settings.advertisers.contains(where: \.isSent), .commandDisallowed)
            controller.settings.advertisers.removeAll { $0.handle != nil }
        },
        .answer(LEReadTransmitPower.self) { controller, _, _ in
            LEReadTransmitPower.ReturnParameters(
                minimum: controller.power(-127), maximum: controller.configuration.transmitPower)
        },
    ]

    /// Returns the index of a set that the host has created.
    func index(of set: AdvertisingHandle) throws(HCIStatus) -> Int {
        try Self.check(set.rawValue <= 0xef)
        guard let index = settings.advertisers.firstIndex(where: { $0.handle == set }) else {
            throw .unknownAdvertisingIdentifier
        }
        return index
    }

    private var advertisingSetLimit: Int { Int(configuration.extended?.advertisingSets ?? 0) }
    var advertisingDataLimit: Int { Int(configuration.extended?.advertisingDataLength ?? 0) }

    /// Returns the supported power that is nearest to the requested power; 127 means no preference.
    private func power(_ wanted: Int8) -> Int8 {
        let most = configuration.transmitPower
        return wanted == 127 ? most : max(min(wanted, most), min(configuration.minimumTransmitPower, most))
    }

    /// Stops these sets, or all sets if `places` is nil.
    private mutating func stop(_ places: [Int]?) {
        for index in places ?? Array(settings.advertisers.indices) { settings.advertisers[index].stop() }
    }
}

// MARK: - Validation

extension VirtualController {
    /// Rejects parameters that are invalid for any set, whatever its data (7.8.53).
    private func check(_ command: LESetExtendedAdvertisingParameters) throws(HCIStatus) {
        let properties = command.properties
        try Self.check(command.set.rawValue <= 0xef && properties.rawValue <= 0x7f)
        if properties.contains(.legacy) {
            try Self.check(Self.legacyProperties.contains(properties) && command.primaryPHY == .le1M)
        } else {
            try Self.check(!properties.isSuperset(of: [.connectable, .scannable]))
            try Self.check(!properties.contains(.highDutyCycle))
            // Connectable and scannable advertising must include an address (Vol 6, Part B, 2.3.1).
            try Self.check(
                !properties.contains(.anonymous) || properties.isDisjoint(with: [.connectable, .scannable]))
            try Self.check(Self.phys.contains(command.secondaryPHY))
            try Self.check(has(command.secondaryPHY), .unsupportedFeatureOrParameterValue)
        }
        try Self.check(command.primaryPHY == .le1M || command.primaryPHY == .leCoded)
        try Self.check(has(command.primaryPHY), .unsupportedFeatureOrParameterValue)
        // The high duty cycle has a fixed interval.
        if !properties.contains(.highDutyCycle) {
            let least = LongSlots(rawValue: 0x20)
            try Self.check(command.intervalMin >= least && command.intervalMin <= command.intervalMax)
        }
        try Self.check(!command.channels.isEmpty && command.channels.isSubset(of: .all))
        try check(command.ownAddressType)
        if properties.contains(.directed) || command.ownAddressType.isPrivate {
            try Self.check(command.peer.type == .public || command.peer.type == .random)
        }
        try Self.check(command.filterPolicy.rawValue <= 3)
        try Self.check((-127...20).contains(command.txPower) || command.txPower == 127)
        try Self.check(command.sid <= 0x0f)
        _ = try Self.value(of: command.notifiesScanRequests)
    }

    /// The properties that legacy packets allow (7.8.53, Table 7.2).
    private static let legacyProperties: Set<Advertiser.Parameters.Properties> = [
        [.legacy, .connectable, .scannable], [.legacy, .connectable, .directed],
        [.legacy, .connectable, .directed, .highDutyCycle], [.legacy, .scannable], [.legacy],
    ]
    private static let phys: [PHY] = [.le1M, .le2M, .leCoded]

    /// Rejects parameters that do not match the existing data of the set.
    private static func check(_ own: Advertiser) throws(HCIStatus) {
        let properties = own.properties
        try check(properties.carryData || own.data.isEmpty)
        try check(properties.contains(.scannable) || own.scanResponse.isEmpty)
        if properties.contains(.legacy) {
            let limit = LegacyAdvertisingData.capacity
            try check(own.data.octets.count <= limit && own.scanResponse.octets.count <= limit)
        }
        try check(own.fits, .packetTooLong)
    }

    /// Returns the address with which a set will advertise; rejects a set that is not ready to start
    /// (7.8.56).
    private mutating func checkedStart(
        of index: Int, _ entry: LESetExtendedAdvertisingEnable.Entry, at now: Instant
    ) throws(HCIStatus) -> DeviceAddress {
        let own = settings.advertisers[index]
        if own.properties.contains(.highDutyCycle) {
            try Self.check((1...128).contains(entry.duration.rawValue))
        }
        try Self.check(!own.data.isPartial && !own.scanResponse.isPartial, .commandDisallowed)
        if !own.properties.contains(.legacy) {
            try Self.check(
                !own.properties.contains(.scannable) || !own.scanResponse.isEmpty, .commandDisallowed)
            try Self.check(
                !own.properties.contains(.connectable) || own.data.octets.count <= own.connectableCapacity)
            try Self.check(own.fits, .packetTooLong)
        }
        let type = own.parameters.ownAddressType
        let address =
            privateAddress(type, towards: own.peer, at: now)
            ?? (type.isPublic ? configuration.publicAddress : own.randomAddress)
        guard let address else { throw .invalidCommandParameters }
        try Self.check(
            !own.properties.contains(.connectable) || links.count < configuration.maximumConnections,
            .connectionLimitExceeded)
        return address
    }
}
