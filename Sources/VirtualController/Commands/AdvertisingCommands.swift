import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.5 to 7.8.9.
    static let advertisingCommands: [CommandHandler] = [
        .perform(LESetAdvertisingParameters.self) { (controller, command, _) throws(HCIStatus) in
            try check(!controller.settings.advertiser.isEnabled, .commandDisallowed)
            try controller.check(command)
            controller.settings.advertiser.parameters = Advertiser.Parameters(command)
        },
        .answer(LEReadAdvertisingPhysicalChannelTxPower.self) { controller, _, _ in
            Returned(controller.configuration.transmitPower)
        },
        .perform(LESetAdvertisingData.self) { (controller, command, _) throws(HCIStatus) in
            controller.settings.advertiser.data.set(try octets(of: command.data))
        },
        .perform(LESetScanResponseData.self) { (controller, command, _) throws(HCIStatus) in
            controller.settings.advertiser.scanResponse.set(try octets(of: command.data))
        },
        .perform(LESetAdvertisingEnable.self) { (controller, command, now) throws(HCIStatus) in
            guard try value(of: command.enable) else { return controller.settings.advertiser.stop() }
            let advertiser = controller.settings.advertiser
            let type = advertiser.parameters.ownAddressType
            let address = try controller.ownAddress(type, towards: advertiser.peer, at: now)
            guard !advertiser.isEnabled else { return }
            try check(
                !advertiser.properties.contains(.connectable)
                    || controller.links.count < controller.configuration.maximumConnections,
                .connectionLimitExceeded)
            // Core Specification 5.4, Vol 6, Part B, 4.4.2.4.3.
            let isShort = advertiser.properties.contains(.highDutyCycle)
            controller.settings.advertiser.start(
                as: address, at: now, for: isShort ? .milliseconds(1280) : nil)
        },
    ]

    private func check(_ command: LESetAdvertisingParameters) throws(HCIStatus) {
        try Self.check(command.type.rawValue <= AdvertisingType.directedLowDutyCycle.rawValue)
        // The high duty cycle has a fixed interval.
        if command.type != .directedHighDutyCycle {
            let range = Slots(rawValue: 0x0020)...Slots(rawValue: 0x4000)
            try Self.check(range.contains(command.intervalMin) && range.contains(command.intervalMax))
            try Self.check(command.intervalMin <= command.intervalMax)
        }
        try check(command.ownAddressType)
        let isDirected = Advertiser.Parameters.Properties(command.type).contains(.directed)
        if isDirected || command.ownAddressType.isPrivate {
            try Self.check(command.peer.type == .public || command.peer.type == .random)
        }
        try Self.check(!command.channels.isEmpty && command.channels.isSubset(of: .all))
        try Self.check(command.filterPolicy.rawValue <= 3)
    }

    private static func octets(of data: LegacyAdvertisingData) throws(HCIStatus) -> [UInt8] {
        guard let octets = data.data else { throw .invalidCommandParameters }
        return octets
    }
}

extension Advertiser.Parameters {
    /// Converts the parameters of the legacy command to those of the extended command.
    fileprivate init(_ command: LESetAdvertisingParameters) {
        self.init(
            set: AdvertisingHandle(rawValue: 0), properties: Properties(command.type),
            intervalMin: LongSlots(rawValue: UInt32(command.intervalMin.rawValue)),
            intervalMax: LongSlots(rawValue: UInt32(command.intervalMax.rawValue)),
            channels: command.channels, ownAddressType: command.ownAddressType, peer: command.peer,
            filterPolicy: command.filterPolicy)
    }
}
