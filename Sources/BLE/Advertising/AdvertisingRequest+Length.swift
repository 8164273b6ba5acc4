import BLEAdvertising
import BLECore
import HCI

/// Too much data, as controllers report it.
extension AdvertisingRequest {
    /// Packet Too Long as the limit that was met: what goes into one packet where there can only be one, else
    /// what goes into an interval (Core Specification 5.4, Vol 4, Part E, 7.8.53 to 7.8.56 and 7.8.61 to
    /// 7.8.63). A controller may take less than the specification leaves room for: then all that is known is
    /// that the limit is below what it refused.
    func explaining(_ error: BLEError) -> BLEError {
        guard case .hci(.packetTooLong, let command) = error else { return error }
        if let periodic, Self.ofTrains.contains(command) {
            let room = AdvertisingChain.periodic.octets(
                within: periodic.interval.upperBound, on: secondaryPHY)
            return Self.limit(.periodicDataInInterval, room, met: periodic.data.count)
        }
        let octets = max(payloads.data?.count ?? 0, payloads.scanResponse?.count ?? 0)
        if isConnectable {
            return Self.limit(.connectableData, connectableCapacity, met: octets)
        }
        return Self.limit(
            .advertisingDataInInterval,
            AdvertisingChain.advertising.octets(
                within: interval - ExtendedAdvertisingPacket.announcements(on: channels, primaryPHY),
                on: secondaryPHY), met: octets)
    }

    private static let ofTrains: Set<HCIOpcode> = [
        .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
    ]

    private static func limit(_ limit: BLEError.Limit, _ maximum: Int, met octets: Int) -> BLEError {
        .limit(limit, maximum: min(maximum, max(octets - 1, 0)), value: octets)
    }

    /// The most octets of data in the one packet of connectable extended advertising.
    var connectableCapacity: Int {
        AdvertisingLimits(for: .connectable).extended - (direction != nil ? 6 : 0) - (includesTxPower ? 1 : 0)
    }
}
