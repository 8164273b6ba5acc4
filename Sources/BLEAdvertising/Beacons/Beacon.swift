import BLECore

/// The payload of a beacon, in one of the formats that many manufacturers share.
public enum Beacon: Hashable, Sendable {
    /// Apple's iBeacon, which identifies a place.
    case iBeacon(IBeacon)
    /// AltBeacon, the open counterpart of iBeacon.
    case altBeacon(AltBeacon)
    /// Google's Eddystone: an identifier, a web address, or the state of the beacon.
    case eddystone(EddystoneFrame)
    /// A measurement from a RuuviTag.
    case ruuvi(RuuviMeasurement)
    /// Data of a home sensor or button in BTHome format.
    case bthome(BTHome)

    /// Decodes manufacturer data; nil if it is not in a beacon format. Throws if it begins as a beacon but is
    /// malformed.
    public init?(_ manufacturer: ManufacturerData) throws(DecodeError) {
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

    /// Decodes service data; nil if it is not in a beacon format. Throws if it is malformed.
    public init?(_ service: ServiceData) throws(DecodeError) {
        if let frame = try EddystoneFrame(service) {
            self = .eddystone(frame)
        } else if let packet = try BTHome(service) {
            self = .bthome(packet)
        } else {
            return nil
        }
    }
}

extension AdvertisingData {
    /// The beacons in the payload, in order: manufacturer data first, then service data. A malformed beacon
    /// is returned as its error.
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

/// One value that a beacon reports, with its name.
public struct BeaconReading: Hashable, Sendable {
    /// A value that a beacon reports.
    public enum Value: Hashable, Sendable {
        /// A number with its unit.
        case quantity(Quantity)
        /// A Boolean state, and the word that describes it.
        case state(Bool, String)
        /// A text, for example a UUID or a web address.
        case text(String)
        /// Octets, for example of an identifier.
        case octets([UInt8])
    }

    /// The name, in the style of a Swift property: `temperature`.
    public let name: String
    /// The value that the beacon reports.
    public let value: Value
    /// Whether the value is a main value of the beacon rather than a detail.
    public let isMain: Bool

    init(_ name: String, _ value: Value, isMain: Bool = true) {
        self.name = name
        self.value = value
        self.isMain = isMain
    }

    fileprivate init?(_ name: String, _ quantity: Quantity?, isMain: Bool = true) {
        guard let quantity else { return nil }
        self.init(name, .quantity(quantity), isMain: isMain)
    }

    fileprivate init(_ name: String, count: some BinaryInteger, isMain: Bool = true) {
        self.init(name, .quantity(Quantity(count, .one)), isMain: isMain)
    }

    fileprivate init(_ name: String, power: Int8) {
        self.init(name, .quantity(Quantity(power, .decibelMilliwatt)))
    }
}

extension Beacon {
    /// The name of the beacon's format, for example "iBeacon".
    public var format: String {
        switch self {
        case .iBeacon: "iBeacon"
        case .altBeacon: "AltBeacon"
        case .eddystone(.uid): "Eddystone-UID"
        case .eddystone(.url): "Eddystone-URL"
        case .eddystone(.telemetry), .eddystone(.encryptedTelemetry): "Eddystone-TLM"
        case .eddystone(.ephemeral): "Eddystone-EID"
        case .ruuvi(let measurement): "Ruuvi \(measurement.format.rawValue)"
        case .bthome: "BTHome"
        }
    }

    /// All values of the beacon with their names, in order; values that are not known are omitted.
    public var readings: [BeaconReading] {
        switch self {
        case .iBeacon(let beacon):
            [
                BeaconReading("uuid", .text(beacon.uuid.description)),
                BeaconReading("major", count: beacon.major), BeaconReading("minor", count: beacon.minor),
                BeaconReading("measuredPower", power: beacon.measuredPower),
            ]
        case .altBeacon(let beacon):
            [
                BeaconReading("identifier", .octets(beacon.identifier)),
                BeaconReading("referenceRSSI", power: beacon.referenceRSSI),
                BeaconReading("reserved", count: beacon.reserved, isMain: false),
            ]
        case .eddystone(let frame): frame.readings
        case .ruuvi(let measurement): measurement.readings
        case .bthome(let packet): packet.readings
        }
    }
}

extension EddystoneFrame {
    fileprivate var readings: [BeaconReading] {
        switch self {
        case .uid(let beacon):
            [
                BeaconReading("namespace", .octets(beacon.namespace)),
                BeaconReading("instance", .octets(beacon.instance)),
                BeaconReading("power", power: beacon.power),
            ]
        case .url(let beacon):
            [BeaconReading("url", .text(beacon.url)), BeaconReading("power", power: beacon.power)]
        case .telemetry(let telemetry):
            [
                BeaconReading("battery", telemetry.battery),
                BeaconReading("temperature", telemetry.temperature),
                BeaconReading("packets", count: telemetry.packets),
                BeaconReading("uptime", telemetry.uptime),
            ].compactMap { $0 }
        case .encryptedTelemetry(let telemetry):
            [
                BeaconReading("encrypted", .state(true, "yes")),
                BeaconReading("ciphertext", .octets(telemetry.ciphertext), isMain: false),
                BeaconReading("salt", .text(telemetry.salt.hex), isMain: false),
                BeaconReading("tag", .text(telemetry.tag.hex), isMain: false),
            ]
        case .ephemeral(let beacon):
            [
                BeaconReading("identifier", .text(beacon.identifier.hex)),
                BeaconReading("power", power: beacon.power),
            ]
        }
    }
}

extension RuuviMeasurement {
    fileprivate var readings: [BeaconReading] {
        [
            BeaconReading("temperature", temperature), BeaconReading("humidity", humidity),
            BeaconReading("pressure", pressure), BeaconReading("battery", battery),
            BeaconReading("accelerationX", acceleration.x, isMain: false),
            BeaconReading("accelerationY", acceleration.y, isMain: false),
            BeaconReading("accelerationZ", acceleration.z, isMain: false),
            BeaconReading("txPower", txPower, isMain: false),
            movements.map { BeaconReading("movements", count: $0, isMain: false) },
            sequence.map { BeaconReading("sequence", count: $0, isMain: false) },
            address.map { BeaconReading("address", .text($0.text), isMain: false) },
        ].compactMap { $0 }
    }
}

extension BTHome {
    fileprivate var readings: [BeaconReading] {
        var readings: [BeaconReading] = []
        if information.isEncrypted {
            readings.append(BeaconReading("encrypted", .state(true, "yes"), isMain: sealed != nil))
        }
        if let counter { readings.append(BeaconReading("counter", count: counter, isMain: false)) }
        if let address { readings.append(BeaconReading("address", .text(address.text), isMain: false)) }
        return readings + objects.map(\.reading)
    }
}

extension BTHomeObject {
    fileprivate var reading: BeaconReading {
        switch self {
        case .packetIdentifier(let number): BeaconReading("packetId", count: number, isMain: false)
        case .measurement(let property, let value): BeaconReading(property.rawValue, .quantity(value))
        case .state(let state, let isOn): BeaconReading("\(state)", .state(isOn, state.word(isOn)))
        case .time(let time): BeaconReading("time", .text(time.description))
        case .button(let event): BeaconReading("button", .text(event.description))
        case .command(let command, let arguments):
            BeaconReading(
                "command", .text(([command.description] + arguments.map { "\($0)" }).joined(separator: " ")))
        case .dimmer(let steps): BeaconReading("dimmer", count: steps)
        case .text(let text): BeaconReading("text", .text(text.text))
        case .raw(let octets): BeaconReading("raw", .octets(octets))
        case .deviceType(let number): BeaconReading("deviceType", count: number, isMain: false)
        case .firmware(let numbers):
            BeaconReading(
                "firmware", .text(numbers.map { "\($0)" }.joined(separator: ".")), isMain: false)
        }
    }
}
