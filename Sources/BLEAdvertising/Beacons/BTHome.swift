import BLECore

/// The data of a sensor or button in BTHome v2 (bthome.io/format), as service data of 0xFCD2.
///
/// ```swift
/// for case .success(.bthome(var news)) in found.fields.beacons {
///     if news.isEncrypted { news = try news.opened(with: key, from: found.address) }
///     for case .measurement(.temperature, let value) in news.objects { print(value) }  // 25.06 °C
/// }
/// ```
public struct BTHome: Hashable, Sendable {
    /// The first octet of the service data.
    package struct DeviceInformation: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package var isEncrypted: Bool { rawValue & 0x01 != 0 }
        /// Whether the sensor's address goes before the objects.
        package var hasAddress: Bool { rawValue & 0x02 != 0 }
        /// Whether the sensor sends only when something happens, as a button does.
        package var isTriggerBased: Bool { rawValue & 0x04 != 0 }
        /// The version of BTHome, which is 2.
        package var version: UInt8 { rawValue >> 5 }
    }

    /// Why the objects ended before the data did. What was before is good all the same.
    public enum Ending: Hashable, Sendable {
        /// An object of a kind that is not known here, so that its length is not known either; `left` octets follow its
        /// identifier.
        case unknownObject(UInt8, left: Int)
        /// An object that is not whole.
        case malformed(DecodeError)
    }

    /// The encrypted part of the service data.
    package struct Sealed: Hashable, Sendable {
        /// The encrypted objects, without counter and tag.
        package let ciphertext: [UInt8]
        /// The counter of the packet, a part of the nonce.
        package let counter: UInt32
        /// What shows that they were not changed: 4 octets.
        package let tag: [UInt8]
    }

    /// The first octet of the service data.
    package let information: DeviceInformation
    /// The sensor's address, when it says it.
    public let address: DeviceAddress?
    /// What it says, in order; empty while it is encrypted.
    public let objects: [BTHomeObject]
    /// Why there are no more of them; nil at the end of the data.
    public let ending: Ending?
    /// What is encrypted, until it is opened.
    package let sealed: Sealed?
    /// The counter of a packet that came encrypted. A sensor increases it with each packet, so that an attacker cannot send
    /// an old one again.
    public let counter: UInt32?

    /// Whether the objects are encrypted: `opened(with:from:)` decrypts them.
    public var isEncrypted: Bool { sealed != nil }

    /// The service whose data they are.
    package static let service: BluetoothUUID = 0xfcd2

    /// What service data say; nil when they are of another service. Throws when they are of another version
    /// or too short for what the first octet says.
    package init?(_ service: ServiceData) throws(DecodeError) {
        guard service.uuid == Self.service else { return nil }
        var reader = ByteReader(service.data.span, of: "BTHome")
        information = DeviceInformation(rawValue: try reader.u8("device information"))
        guard information.version == 2 else {
            throw reader.invalid("device information", value: information.rawValue, width: 1)
        }
        address = information.hasAddress ? DeviceAddress(try reader.u48("address"), type: .public) : nil
        guard information.isEncrypted else {
            (objects, ending) = BTHomeObject.all(&reader)
            (sealed, counter) = (nil, nil)
            return
        }
        let ciphertext = try reader.bytes(max(0, reader.remaining - 8), "encrypted objects")
        let counter = try reader.u32("counter")
        self.counter = counter
        sealed = Sealed(ciphertext: ciphertext, counter: counter, tag: try reader.bytes(4, "tag"))
        (objects, ending) = ([], nil)
    }

    private init(_ closed: BTHome, opened: [UInt8]) {
        (information, address, counter) = (closed.information, closed.address, closed.counter)
        sealed = nil
        var reader = ByteReader(opened.span, of: "BTHome")
        (objects, ending) = BTHomeObject.all(&reader)
    }
}

/// Why an encrypted packet cannot be decrypted.
public enum BTHomeKeyError: Error, Hashable, Sendable {
    /// The address of the sensor, which is a part of the encryption, is not known.
    case noAddress
    /// It was encrypted with another key or for another address, or it was changed.
    case mismatch
}

extension BTHomeKeyError: CustomStringConvertible {
    /// The reason as one line of text.
    public var description: String {
        switch self {
        case .noAddress: "the address that it was encrypted for is not known"
        case .mismatch: "the key does not fit"
        }
    }
}

extension BTHome {
    /// Decrypts the packet and returns it with its objects. `key` is the bind key, its first octet the most
    /// significant; `sender` is the address from which the packet came, for packets that do not contain it. A
    /// packet that is not encrypted is returned as it is.
    public func opened(with key: UInt128, from sender: DeviceAddress?) throws(BTHomeKeyError) -> BTHome {
        guard let sealed else { return self }
        guard let address = address ?? sender else { throw .noAddress }
        let nonce = [UInt8](capacity: 13) { output in
            for shift in stride(from: UInt64(40), through: 0, by: -8) {
                output.u8(UInt8(truncatingIfNeeded: address.value >> shift))
            }
            output.u16(0xfcd2)
            output.u8(information.rawValue)
            output.u32(sealed.counter)
        }
        guard let objects = AESCCM(key: key).open(sealed.ciphertext, tag: sealed.tag, nonce: nonce) else {
            throw .mismatch
        }
        return BTHome(self, opened: objects)
    }
}

extension BTHome.Ending: CustomStringConvertible {
    /// The reason as one line of text.
    public var description: String {
        switch self {
        case .unknownObject(let identifier, let left):
            "object 0x\(identifier.hex) is not known, nor where the next begins; \(left) octets are left"
        case .malformed(let error): error.description
        }
    }
}
