import ATT
import BLECore

extension AttributeDatabase {
    /// A hash of the structure, by which a client knows that what it remembers still holds (Core
    /// Specification 5.4, Vol 3, Part G, 7.3.1): AES-CMAC with a key of zeros over handle, type and value of
    /// declarations and Extended Properties, and handle and type of the other GATT descriptors. 16 octets,
    /// the least significant first.
    package var hash: [UInt8] {
        var mac = AESCMAC(key: 0)
        for attribute in attributes {
            guard let type = attribute.type.uint16, let part = HashedPart(type) else { continue }
            for word in [attribute.handle.rawValue, type] { mac.update([UInt8](littleEndian: word)) }
            if part == .withValue { mac.update(attribute.value) }
        }
        return [UInt8](littleEndian: mac.finalize())
    }
}

/// What of an attribute goes into the hash.
private enum HashedPart {
    case withValue
    case withoutValue

    /// Nil for attributes that the hash leaves out.
    init?(_ type: UInt16) {
        switch type {
        case 0x2800...0x2803, 0x2900: self = .withValue
        case 0x2901...0x2905: self = .withoutValue
        default: return nil
        }
    }
}
