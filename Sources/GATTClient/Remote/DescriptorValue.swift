import ATT
import BLECore

/// The decoded value of a descriptor (Core Specification 5.4, Vol 3, Part G, 3.3.3).
public enum DescriptorValue: Hashable, Sendable {
    /// 0x2900: further properties of the characteristic's value (3.3.3.1).
    case extendedProperties(ExtendedCharacteristicProperties)
    /// 0x2901: a human-readable description (3.3.3.2).
    case userDescription(String)
    /// 0x2902: the subscription of this client (3.3.3.3).
    case clientConfiguration(ClientCharacteristicConfiguration)
    /// 0x2903: whether the value is broadcast (3.3.3.4).
    case serverConfiguration(isBroadcast: Bool)
    /// 0x2904: the format of the value (3.3.3.5).
    case presentationFormat(CharacteristicPresentationFormat)
    /// 0x2905: the descriptors of type 0x2904 that describe the parts of the value, in order (3.3.3.6).
    case aggregateFormat([AttributeHandle])
    /// The octets of any other descriptor.
    case other([UInt8])

    /// Decodes the value of a descriptor of type `uuid`. Bits without an assigned meaning are kept.
    package init(_ uuid: BluetoothUUID, _ value: [UInt8]) throws(DecodeError) {
        var reader = ByteReader(value.span, of: "descriptor \(uuid)")
        switch uuid {
        case .characteristicExtendedProperties:
            self = .extendedProperties(
                ExtendedCharacteristicProperties(rawValue: try reader.u16("properties")))
        case .characteristicUserDescription:
            self = .userDescription(String(decoding: reader.rest(), as: UTF8.self))
        case .clientCharacteristicConfiguration:
            self = .clientConfiguration(ClientCharacteristicConfiguration(rawValue: try reader.u16("bits")))
        case .serverCharacteristicConfiguration:
            self = .serverConfiguration(isBroadcast: try reader.u16("bits") & 1 != 0)
        case .characteristicPresentationFormat:
            self = .presentationFormat(try CharacteristicPresentationFormat(decoding: &reader))
        case .characteristicAggregateFormat:
            var handles: [AttributeHandle] = []
            while reader.remaining > 0 { handles.append(AttributeHandle(try reader.u16("descriptor"))) }
            self = .aggregateFormat(handles)
        default: self = .other(reader.rest())
        }
        try reader.end()
    }
}
