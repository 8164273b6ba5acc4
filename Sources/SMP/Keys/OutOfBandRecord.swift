import BLEAdvertising
import BLECore

/// The record that one device passes to the other before they pair, over NFC, in a QR code or in a file. It
/// consists of AD structures, as in records of the type `application/vnd.bluetooth.le.oob` (Core
/// Specification Supplement v11, Part A, 1.7, 1.8, 1.16 and 1.17).
public struct OutOfBandRecord: Hashable, Sendable {
    /// The address of the device that provides the data, if the record contains it.
    public var address: DeviceAddress?
    /// The role that the device prefers, if the record contains it.
    public var role: LERole?
    /// The out-of-band data that the peer uses to pair with the device.
    public var data: OutOfBandData

    /// Creates a record of `data`, with the address and role of its device if they are known.
    public init(_ data: OutOfBandData, of address: DeviceAddress? = nil, role: LERole? = nil) {
        self.data = data
        self.address = address
        self.role = role
    }

    /// Reads the record from AD structures; other AD types are ignored. If the record contains data for both
    /// kinds of pairing, the data for LE Secure Connections are used.
    public init(_ record: AdvertisingData) throws(DecodeError) {
        if let problem = record.problems.first { throw problem }
        var values: [OutOfBandValue.Kind: UInt128] = [:]
        for field in record.fields {
            switch field {
            case .deviceAddress(let field): address = field.address
            case .role(let field): role = field
            case .outOfBand(let value): values[value.kind] = value.value
            default: break
            }
        }
        if let confirm = values[.confirmation], let random = values[.random] {
            data = .secureConnections(confirm: confirm, random: random)
        } else if let key = values[.temporaryKey] {
            data = .temporaryKey(key)
        } else {
            let missing = values[.confirmation] == nil ? "confirmation value" : "random value"
            throw DecodeError(
                packet: "Out-of-band record", field: missing, offset: record.bytes.count,
                reason: .malformed("there is none"))
        }
    }

    /// The record as the AD structures that OOB transports carry.
    public var advertisingData: AdvertisingData {
        var fields: [AdvertisingField] = []
        if let address { fields.append(.deviceAddress(LEDeviceAddress(address))) }
        if let role { fields.append(.role(role)) }
        switch data {
        case .temporaryKey(let key): fields.append(.outOfBand(OutOfBandValue(.temporaryKey, key)))
        case .secureConnections(let confirm, let random):
            fields.append(.outOfBand(OutOfBandValue(.confirmation, confirm)))
            fields.append(.outOfBand(OutOfBandValue(.random, random)))
        }
        // No field exceeds the maximum length of an AD structure, because all their lengths are fixed.
        return (try? AdvertisingData(fields)) ?? AdvertisingData()
    }
}

/// The data that one device passes to the other over a medium other than Bluetooth (Core Specification 5.4,
/// Vol 3, Part H, 2.3.5.4 and 2.3.5.6.4).
public enum OutOfBandData: Hashable, Sendable {
    /// LE legacy pairing: the temporary key, which both devices must have.
    case temporaryKey(UInt128)
    /// LE Secure Connections: the confirm value of a device's public key, and the random number from which it
    /// was calculated.
    case secureConnections(confirm: UInt128, random: UInt128)
}
