import BLECore

/// A frame of an Eddystone beacon: service data of 0xFEAA (Eddystone Protocol Specification).
public enum EddystoneFrame: Hashable, Sendable {
    /// Eddystone-UID: the beacon's identifier.
    case uid(EddystoneUID)
    /// Eddystone-URL: a web address in at most 18 octets.
    case url(EddystoneURL)
    /// Eddystone-TLM: the beacon's state.
    case telemetry(EddystoneTelemetry)
    /// Eddystone-eTLM: the encrypted state, for holders of the beacon's identity key.
    case encryptedTelemetry(EddystoneEncryptedTelemetry)
    /// Eddystone-EID: a changing identifier, which only a service where the beacon is registered can resolve.
    case ephemeral(EddystoneEphemeralIdentifier)

    /// The service whose data contains Eddystone frames.
    package static let service: BluetoothUUID = 0xfeaa

    /// Decodes service data; nil if it belongs to a different service. Throws if the frame is malformed or of
    /// a type that is not in the specification.
    package init?(_ service: ServiceData) throws(DecodeError) {
        guard service.uuid == Self.service else { return nil }
        var reader = ByteReader(service.data.span, of: "Eddystone")
        let type = try reader.u8("frame type")
        switch type {
        case 0x00: self = .uid(try EddystoneUID(decoding: &reader))
        case EddystoneURL.frameType: self = .url(try EddystoneURL(decoding: &reader))
        case 0x20: self = try Self.telemetry(&reader)
        case 0x30: self = .ephemeral(try EddystoneEphemeralIdentifier(decoding: &reader))
        default: throw reader.invalid("frame type", value: type, width: 1)
        }
        try reader.end()
    }

    private static func telemetry(_ reader: inout ByteReader) throws(DecodeError) -> EddystoneFrame {
        let version = try reader.u8("version")
        switch version {
        case 0: return .telemetry(try EddystoneTelemetry(decoding: &reader))
        case 1: return .encryptedTelemetry(try EddystoneEncryptedTelemetry(decoding: &reader))
        default: throw reader.invalid("version", value: version, width: 1)
        }
    }
}

/// Eddystone-UID: the identifier of a beacon.
public struct EddystoneUID: Hashable, Sendable {
    /// Signal strength at the antenna (0 m), in dBm.
    public let power: Int8
    /// The namespace of the beacon's owner, 10 octets.
    public let namespace: [UInt8]
    /// The identifier within the namespace, 6 octets.
    public let instance: [UInt8]

    init(decoding reader: inout ByteReader) throws(DecodeError) {
        power = try reader.i8("power")
        namespace = try reader.bytes(10, "namespace")
        instance = try reader.bytes(6, "instance")
        // Two octets reserved for future use, which old beacons omit.
        if reader.remaining > 0 { _ = try reader.u16("reserved") }
    }
}

/// Eddystone-TLM: the state of a beacon.
public struct EddystoneTelemetry: Hashable, Sendable {
    /// The battery voltage; nil if the beacon does not report it.
    public let battery: Quantity?
    /// The beacon's temperature, to the thousandth of a degree; nil when it is not measured.
    public let temperature: Quantity?
    /// The number of packets sent since the start of the beacon.
    public let packets: UInt32
    /// The time since the start of the beacon, in seconds, with a resolution of a tenth of a second.
    public let uptime: Quantity

    init(decoding reader: inout ByteReader) throws(DecodeError) {
        let voltage = try reader.u16("battery voltage").byteSwapped
        battery = voltage == 0 ? nil : Quantity(voltage, exponent: -3, .volt)
        let degrees = Int16(bitPattern: try reader.u16("temperature").byteSwapped)
        // The unit is 1/256 of a degree, so more than three digits would not add precision.
        let thousandths = (Int(degrees) * 1000 + (degrees < 0 ? -128 : 128)) / 256
        temperature = degrees == .min ? nil : Quantity(thousandths, exponent: -3, .celsius)
        packets = try reader.u32("advertising count").byteSwapped
        uptime = Quantity(try reader.u32("time since start").byteSwapped, exponent: -1, .second)
    }
}

/// Eddystone-TLM, encrypted with AES-EAX for receivers that have the beacon's identity key and clock.
public struct EddystoneEncryptedTelemetry: Hashable, Sendable {
    /// The twelve octets of the encrypted telemetry.
    public let ciphertext: [UInt8]
    /// The random number that the encryption used.
    public let salt: UInt16
    /// The message integrity check of the encrypted telemetry.
    public let tag: UInt16

    init(decoding reader: inout ByteReader) throws(DecodeError) {
        ciphertext = try reader.bytes(12, "encrypted telemetry")
        salt = try reader.u16("salt").byteSwapped
        tag = try reader.u16("message integrity check").byteSwapped
    }
}

/// Eddystone-EID: an identifier that changes with time.
public struct EddystoneEphemeralIdentifier: Hashable, Sendable {
    /// Signal strength at the antenna (0 m), in dBm.
    public let power: Int8
    /// The current identifier; its most significant octet comes first.
    public let identifier: UInt64

    init(decoding reader: inout ByteReader) throws(DecodeError) {
        power = try reader.i8("power")
        identifier = try reader.u64("ephemeral identifier").byteSwapped
    }
}
