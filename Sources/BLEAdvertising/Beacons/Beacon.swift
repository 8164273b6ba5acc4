import BLECore

/// What a device that only broadcasts has to say, in one of the formats that many makers share.
public enum Beacon: Hashable, Sendable {
    /// Apple's iBeacon, which marks a place.
    case iBeacon(IBeacon)
    /// A place, in the open counterpart of it.
    case altBeacon(AltBeacon)
    /// Google's: an identifier, a web address, or how the beacon is.
    case eddystone(EddystoneFrame)
    /// A sensor of Ruuvi's.
    case ruuvi(RuuviMeasurement)
    /// A sensor or button for the home.
    case bthome(BTHome)

    /// The beacon that manufacturer data hold; nil when they are no beacon's. Throws when they begin as one's and are
    /// malformed.
    package init?(_ manufacturer: ManufacturerData) throws(DecodeError) {
        if IBeacon.claims(manufacturer) {
            self = .iBeacon(try IBeacon(malformedOr: manufacturer))
        } else if let beacon = try AltBeacon(manufacturer) {
            self = .altBeacon(beacon)
        } else if let measurement = try RuuviMeasurement(manufacturer) {
            self = .ruuvi(measurement)
        } else {
            return nil
        }
    }

    /// The beacon that service data hold; nil when they are no beacon's. Throws when they are malformed.
    package init?(_ service: ServiceData) throws(DecodeError) {
        if let frame = try EddystoneFrame(service) {
            self = .eddystone(frame)
        } else if let news = try BTHome(service) {
            self = .bthome(news)
        } else {
            return nil
        }
    }
}

extension AdvertisingData {
    /// What the payload says in the formats of beacons, in order: manufacturer data first, then service data. Those that
    /// are malformed are their errors.
    public var beacons: [Result<Beacon, DecodeError>] {
        func attempt(_ body: () throws(DecodeError) -> Beacon?) -> Result<Beacon, DecodeError>? {
            do throws(DecodeError) {
                return try body().map { .success($0) }
            } catch {
                return .failure(error)
            }
        }
        return manufacturerData.compactMap { data in
            attempt { () throws(DecodeError) in try Beacon(data) }
        } + serviceData.compactMap { data in attempt { () throws(DecodeError) in try Beacon(data) } }
    }
}
