import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.54 and 7.8.55.
    static let advertisingDataCommands: [CommandHandler] = [
        .perform(LESetExtendedAdvertisingData.self) { (controller, command, _) throws(HCIStatus) in
            let fragment = command.fragment
            let index = try controller.index(of: fragment.set)
            let own = controller.settings.advertisers[index]
            try check(own.properties.carryData)
            try check(fragment, own)
            if fragment.operation == .unchanged {
                try check(
                    own.isEnabled && !own.data.isEmpty && !own.properties.contains(.legacy)
                        && fragment.data.isEmpty)
            }
            try controller.take(fragment, into: \.data, of: index)
            if !own.properties.contains(.legacy) { controller.renewDataID(of: index) }
        },
        .perform(LESetExtendedScanResponseData.self) { (controller, command, _) throws(HCIStatus) in
            let fragment = command.fragment
            let index = try controller.index(of: fragment.set)
            let own = controller.settings.advertisers[index]
            try check(fragment.operation != .unchanged)
            try check(own.properties.contains(.scannable) || fragment.data.isEmpty)
            try check(fragment, own)
            // Scannable extended advertising requires scan response data.
            try check(
                !own.isEnabled || own.properties.contains(.legacy)
                    || !own.properties.contains(.scannable) || !fragment.data.isEmpty, .commandDisallowed)
            try controller.take(fragment, into: \.scanResponse, of: index)
            if !own.properties.contains(.legacy) { controller.renewDataID(of: index) }
        },
    ]

    /// Rejects unknown operations, fragments that are too large for legacy packets, and fragments that would
    /// leave an enabled set with partial data.
    private static func check(_ fragment: AdvertisingDataFragment, _ own: Advertiser) throws(HCIStatus) {
        let (operation, count) = (fragment.operation, fragment.data.count)
        try check(operation.rawValue <= AdvertisingDataFragment.Operation.unchanged.rawValue)
        try check(fragment.preference.rawValue <= 1 && count <= AdvertisingDataFragment.capacity)
        if own.properties.contains(.legacy) {
            try check(operation == .complete && count <= LegacyAdvertisingData.capacity)
        }
        let isWhole = operation == .complete || operation == .unchanged
        try check(isWhole || count > 0)
        try check(isWhole || !own.isEnabled, .commandDisallowed)
    }

    /// Adds a fragment to a payload. If the complete payload is too large, all of it is discarded.
    private mutating func take(
        _ fragment: AdvertisingDataFragment, into payload: WritableKeyPath<Advertiser, AdvertisingPayload>,
        of index: Int
    ) throws(HCIStatus) {
        var own = settings.advertisers[index]
        try own[keyPath: payload].take(fragment.operation, fragment.data)
        let count = own[keyPath: payload].octets.count
        let isConnectable = own.properties.contains(.connectable) && !own.properties.contains(.legacy)
        let refusal: HCIStatus? =
            if count > advertisingDataLimit {
                .memoryCapacityExceeded
            } else if !own.fits || own.isEnabled && isConnectable && count > own.connectableCapacity {
                .packetTooLong
            } else {
                nil
            }
        if refusal != nil { own[keyPath: payload].discard() }
        settings.advertisers[index] = own
        if let refusal { throw refusal }
    }

    /// Changes the data ID of a set (Vol 6, Part B, 4.4.2.11).
    private mutating func renewDataID(of index: Int) {
        settings.advertisers[index].dataID = otherDataID(than: settings.advertisers[index].dataID)
    }

    /// Returns a random data ID of 12 bits that differs from `number`.
    mutating func otherDataID(than number: UInt16) -> UInt16 {
        (number + .random(in: 1...0xfff, using: &random)) & 0xfff
    }
}
