import BLECore
import HCI

/// The contents of the commands to the controller.
extension AdvertisingRequest {
    /// The payloads to set. An extended scannable set has data in its scan response only, legacy directed
    /// advertising none.
    var payloads: (data: [UInt8]?, scanResponse: [UInt8]?) {
        switch (plan.extended, kind) {
        case (let extended?, .scannable): (nil, extended)
        case (let extended?, _): (extended, nil)
        case (nil, _) where direction != nil: (nil, nil)
        case (nil, .nonconnectable): (plan.data, nil)
        case (nil, _): (plan.data, plan.scanResponse)
        }
    }

    /// The parameters of the legacy commands.
    func legacyParameters(_ ownAddressType: OwnAddressType) -> LESetAdvertisingParameters {
        LESetAdvertisingParameters(
            intervalMin: Slots(interval), intervalMax: Slots(interval), type: legacyType,
            ownAddressType: ownAddressType, peer: peer, channels: channels)
    }

    private var legacyType: AdvertisingType {
        switch (direction?.dutyCycle, kind) {
        case (.high, _): .directedHighDutyCycle
        case (.low, _): .directedLowDutyCycle
        case (nil, .connectable): .connectable
        case (nil, .scannable): .scannable
        case (nil, .nonconnectable): .nonconnectable
        }
    }

    /// The parameters of the extended commands.
    func extendedParameters(
        _ set: AdvertisingHandle, _ ownAddressType: OwnAddressType
    ) -> LESetExtendedAdvertisingParameters {
        LESetExtendedAdvertisingParameters(
            set: set, properties: properties, intervalMin: LongSlots(interval),
            intervalMax: LongSlots(interval), channels: channels, ownAddressType: ownAddressType,
            peer: peer, txPower: power ?? 127, primaryPHY: primaryPHY, secondaryPHY: secondaryPHY,
            sid: sid ?? set.defaultSID)
    }

    private var peer: HCIAddress { HCIAddress(direction?.peer ?? DeviceAddress(0, type: .public)) }

    /// What the extended commands make of the kind: legacy packets, unless the plan is extended.
    private var properties: LESetExtendedAdvertisingParameters.Properties {
        var properties: LESetExtendedAdvertisingParameters.Properties =
            switch kind {
            case .connectable where isExtended || direction != nil: .connectable
            case .connectable: [.connectable, .scannable]
            case .scannable: .scannable
            case .nonconnectable: []
            }
        if !isExtended { properties.insert(.legacy) }
        if isAnonymous { properties.insert(.anonymous) }
        if includesTxPower { properties.insert(.includesTxPower) }
        if let direction {
            properties.insert(.directed)
            if direction.dutyCycle == .high { properties.insert(.highDutyCycle) }
        }
        return properties
    }
}

extension AdvertisingHandle {
    /// A number for scanners, which differs from those of the 15 sets beside it.
    var defaultSID: UInt8 { ~rawValue & 0x0f }
}
