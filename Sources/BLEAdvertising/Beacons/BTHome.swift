import BLECore

/// The data of a sensor or button in BTHome v2 (bthome.io/format), in service data of 0xFCD2.
///
/// ```swift
/// for case .success(.bthome(var packet)) in found.fields.beacons {
///     if packet.isEncrypted { packet = try packet.opened(with: key, from: found.address) }
///     for case .measurement(.temperature, let value) in packet.objects { print(value) }  // 25.06 °C
/// }
/// ```
public struct BTHome: Hashable, Sendable {
    /// The first octet of the service data.
    package struct DeviceInformation: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package var isEncrypted: Bool { rawValue & 0x01 != 0 }
        /// Whether the sensor's address precedes the objects.
        package var hasAddress: Bool { rawValue & 0x02 != 0 }
        /// Whether the sensor sends data only on events, as a button does.
        package var isTriggerBased: Bool { rawValue & 0x04 != 0 }
        /// The version of BTHome; 2 is the supported version.
        package var version: UInt8 { rawValue >> 5 }
    }

    /// The reason why the objects end before the end of the data. The objects up to that point are valid
    /// nevertheless.
    public enum Ending: Hashable, Sendable {
        /// An object of an unknown kind, whose length is therefore unknown too; `left` octets follow its
        /// identifier.
        case unknownObject(UInt8, left: Int)
        /// An object that is incomplete or malformed.
        case malformed(DecodeError)
    }

    /// The encrypted part of the service data.
    package struct Sealed: Hashable, Sendable {
        /// The encrypted objects, without counter and tag.
        package let ciphertext: [UInt8]
        /// The counter of the packet, a part of the nonce.
        package let counter: UInt32
        /// The message integrity code of the objects: 4 octets.
        package let tag: [UInt8]
    }

    /// The first octet of the service data.
    package let information: DeviceInformation
    /// The sensor's address, if the data contains it.
    public let address: DeviceAddress?
    /// The objects, in the order of the data; empty while they are encrypted.
    public let objects: [BTHomeObject]
    /// The reason why there are no more objects; nil if they extend to the end of the data.
    public let ending: Ending?
    /// The encrypted part, until the packet is decrypted.
    package let sealed: Sealed?
    /// The counter of a packet that was received encrypted. A sensor increases it with each packet, so that
    /// an attacker cannot replay an old packet.
    public let counter: UInt32?

    /// Whether the objects are encrypted: `opened(with:from:)` decrypts them.
    public var isEncrypted: Bool { sealed != nil }

    /// The service whose data contains BTHome objects.
    package static let service: BluetoothUUID = 0xfcd2

    /// Decodes service data; nil if it belongs to a different service. Throws if it has a different version
    /// or is shorter than its first octet requires.
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
    /// The address of the sensor, which is an input of the encryption, is not known.
    case noAddress
    /// The packet was encrypted with a different key or for a different address, or was modified.
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
    /// packet that is not encrypted is returned unchanged.
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
