import BLECore

/// One AD structure, decoded (formats in the Core Specification Supplement v11, Part A).
///
/// Encoding a field gives the octets from which it was decoded, whichever case it is.
package enum AdvertisingField: Hashable, Sendable {
    // Cases are indirect where a rare payload would make all fields large.

    /// The discoverability of the device, in the form of one octet, which is the only one in use.
    case flags(AdvertisingFlags)
    /// Services that the device offers or searches for.
    case services(ServiceUUIDs)
    /// The local name, complete or shortened.
    case name(LocalName)
    /// Transmit power in dBm, -127 to 127.
    case txPower(Int8)
    /// The BR/EDR class of device.
    case classOfDevice(ClassOfDevice)
    /// The vendor, product and version for BR/EDR.
    case deviceID(DeviceID)
    /// A value for pairing out of band.
    case outOfBand(OutOfBandValue)
    /// The available out-of-band data of LE pairing.
    case securityManagerFlags(SecurityManagerFlags)
    /// The connection intervals that the peripheral prefers.
    case connectionIntervalRange(ConnectionIntervalRange)
    case serviceData(ServiceData)
    /// The devices that the advertisement is directed at.
    case targetAddresses(TargetAddresses)
    /// The appearance of the device.
    case appearance(Appearance)
    case advertisingInterval(AdvertisingInterval)
    /// The address of the sender, in out-of-band data.
    case deviceAddress(LEDeviceAddress)
    /// The roles of the sender, in out-of-band data.
    case role(LERole)
    case uri(AdvertisedURI)
    /// Services on other transports, by organization.
    case transportDiscovery(TransportDiscovery)
    case supportedFeatures(LESupportedFeatures)
    /// A new channel map of a periodic train.
    case channelMapUpdate(ChannelMapUpdate)
    /// The parameters for receiving a broadcast isochronous group.
    indirect case bigInfo(BIGInfo)
    /// The code that decrypts a broadcast isochronous group, 4 to 16 octets.
    case broadcastCode(UTF8Text)
    /// The coordinated set of the device.
    case setIdentifier(ResolvableSetIdentifier)
    /// The name of an audio broadcast, 4 to 32 characters.
    case broadcastName(UTF8Text)
    /// Fields that are encrypted for holders of a key.
    case encrypted(EncryptedAdvertisingData)
    /// The timing of responses to a periodic train.
    case responseTiming(PeriodicAdvertisingResponseTiming)
    /// The features of a 3D display.
    case threeDInformation(ThreeDInformation)
    /// Data in a format that a company defines.
    case manufacturer(ManufacturerData)
    /// A field that is not decoded: its content belongs to another protocol (mesh, indoor positioning, shelf
    /// labels), its type is not known, or its form is reserved for future use.
    case opaque(AdvertisingDataType, [UInt8])
    /// A field of a known type with invalid content, and the error with its position in the payload.
    indirect case malformed(AdvertisingDataType, [UInt8], DecodeError)
}

extension AdvertisingField {
    static let packetName = "Advertising Data"

    /// Decodes the field with that type and content, which begins `offset` octets into the payload.
    package init(_ type: AdvertisingDataType, content: Span<UInt8>, offset: Int = 2) {
        do throws(DecodeError) {
            var reader = ByteReader(content, of: Self.packetName)
            self = try Self.decode(type, &reader)
            try reader.end()
        } catch {
            var error = error
            error.offset += offset
            self = .malformed(type, [UInt8](copying: content), error)
        }
    }

    private static func decode(
        _ type: AdvertisingDataType, _ reader: inout ByteReader
    ) throws(DecodeError) -> AdvertisingField {
        if let form = type.uuidListForm { return .services(try ServiceUUIDs(decoding: &reader, form: form)) }
        if let width = type.serviceDataWidth {
            return .serviceData(try ServiceData(decoding: &reader, width: width))
        }
        switch type {
        case .flags where reader.remaining == 1: return .flags(try AdvertisingFlags(decoding: &reader))
        case .completeLocalName: return .name(LocalName(try UTF8Text(decoding: &reader)))
        case .shortenedLocalName: return .name(LocalName(try UTF8Text(decoding: &reader), isComplete: false))
        case .txPowerLevel: return .txPower(try reader.i8("Tx power level"))
        case .classOfDevice: return .classOfDevice(try ClassOfDevice(decoding: &reader))
        case .securityManagerTKValue where reader.remaining == 8:
            return .deviceID(try DeviceID(decoding: &reader))
        case .securityManagerOutOfBandFlags:
            return .securityManagerFlags(try SecurityManagerFlags(decoding: &reader))
        case .peripheralConnectionIntervalRange:
            return .connectionIntervalRange(try ConnectionIntervalRange(decoding: &reader))
        case .publicTargetAddress:
            return .targetAddresses(try TargetAddresses(decoding: &reader, type: .public))
        case .randomTargetAddress:
            return .targetAddresses(try TargetAddresses(decoding: &reader, type: .random))
        case .appearance: return .appearance(try Appearance(decoding: &reader))
        case .advertisingInterval:
            return .advertisingInterval(
                AdvertisingInterval(units: UInt32(try reader.u16("advertising interval"))))
        case .advertisingIntervalLong:
            return .advertisingInterval(try AdvertisingInterval(decodingLong: &reader))
        case .leBluetoothDeviceAddress: return .deviceAddress(try LEDeviceAddress(decoding: &reader))
        case .leRole: return .role(try LERole(decoding: &reader))
        case .uri: return .uri(try AdvertisedURI(decoding: &reader))
        case .transportDiscoveryData: return .transportDiscovery(try TransportDiscovery(decoding: &reader))
        case .leSupportedFeatures: return .supportedFeatures(try LESupportedFeatures(decoding: &reader))
        case .channelMapUpdateIndication: return .channelMapUpdate(try ChannelMapUpdate(decoding: &reader))
        case .bigInfo: return .bigInfo(try BIGInfo(decoding: &reader))
        case .broadcastCode: return .broadcastCode(try UTF8Text(decoding: &reader))
        case .resolvableSetIdentifier: return .setIdentifier(try ResolvableSetIdentifier(decoding: &reader))
        case .broadcastName: return .broadcastName(try UTF8Text(decoding: &reader))
        case .encryptedAdvertisingData: return .encrypted(try EncryptedAdvertisingData(decoding: &reader))
        case .periodicAdvertisingResponseTiming:
            return .responseTiming(try PeriodicAdvertisingResponseTiming(decoding: &reader))
        case .threeDInformation: return .threeDInformation(try ThreeDInformation(decoding: &reader))
        case .manufacturerSpecificData: return .manufacturer(try ManufacturerData(decoding: &reader))
        default:
            guard let kind = OutOfBandValue.Kind(rawValue: type.rawValue) else {
                return .opaque(type, reader.rest())
            }
            return .outOfBand(try OutOfBandValue(decoding: &reader, kind: kind))
        }
    }
}

extension AdvertisingField {
    /// The AD type of the field.
    package var type: AdvertisingDataType { parts.type }

    /// The size of the whole AD structure in octets: length, type and content.
    package var encodedCount: Int { 2 + parts.content.encodedCount }

    /// The octets after the type.
    package var content: [UInt8] { parts.content.encoded }

    /// The maximum size of an AD structure in octets, because its length is one octet.
    package static let maximumCount = 256

    /// Writes the AD structure. The caller ensures that `output` has room for `encodedCount` octets and that
    /// this is not more than `maximumCount`.
    func encode(into output: inout OutputSpan<UInt8>) {
        let (type, content) = parts
        output.u8(UInt8(truncatingIfNeeded: 1 + content.encodedCount))
        output.u8(type.rawValue)
        content.encode(into: &output)
    }

    private var parts: (type: AdvertisingDataType, content: any PacketEncodable) {
        switch self {
        case .flags(let flags): (.flags, flags)
        case .services(let list): (list.type, list)
        case .name(let name): (name.type, name.value)
        case .txPower(let power): (.txPowerLevel, Octets([UInt8(bitPattern: power)]))
        case .classOfDevice(let value): (.classOfDevice, value)
        case .deviceID(let value): (.securityManagerTKValue, value)
        case .outOfBand(let value): (AdvertisingDataType(value.kind.rawValue), value)
        case .securityManagerFlags(let flags): (.securityManagerOutOfBandFlags, flags)
        case .connectionIntervalRange(let range): (.peripheralConnectionIntervalRange, range)
        case .serviceData(let data): (data.type, data)
        case .targetAddresses(let targets): (targets.dataType, targets)
        case .appearance(let appearance): (.appearance, appearance)
        case .advertisingInterval(let interval): (interval.type, interval)
        case .deviceAddress(let address): (.leBluetoothDeviceAddress, address)
        case .role(let role): (.leRole, role)
        case .uri(let uri): (.uri, uri)
        case .transportDiscovery(let discovery): (.transportDiscoveryData, discovery)
        case .supportedFeatures(let features): (.leSupportedFeatures, features)
        case .channelMapUpdate(let update): (.channelMapUpdateIndication, update)
        case .bigInfo(let info): (.bigInfo, info)
        case .broadcastCode(let code): (.broadcastCode, code)
        case .setIdentifier(let identifier): (.resolvableSetIdentifier, identifier)
        case .broadcastName(let name): (.broadcastName, name)
        case .encrypted(let data): (.encryptedAdvertisingData, data)
        case .responseTiming(let timing): (.periodicAdvertisingResponseTiming, timing)
        case .threeDInformation(let information): (.threeDInformation, information)
        case .manufacturer(let data): (.manufacturerSpecificData, data)
        case .opaque(let type, let bytes), .malformed(let type, let bytes, _): (type, Octets(bytes))
        }
    }
}

/// Bytes that are encoded as they are.
private struct Octets: PacketEncodable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var encodedCount: Int { bytes.count }

    func encode(into output: inout OutputSpan<UInt8>) { output.bytes(bytes) }
}

extension AdvertisingData {
    /// Encodes `fields` in that order, without a limit on the total size.
    package init(_ fields: [AdvertisingField]) throws(AdvertisingFieldTooLong) {
        for field in fields where field.encodedCount > AdvertisingField.maximumCount {
            throw AdvertisingFieldTooLong(type: field.type, octets: field.encodedCount)
        }
        bytes = [UInt8](capacity: fields.reduce(0) { $0 + $1.encodedCount }) { output in
            for field in fields { field.encode(into: &output) }
        }
    }
}

/// A field of more than `AdvertisingField.maximumCount` octets, which no AD structure can hold.
package struct AdvertisingFieldTooLong: Error, Hashable, Sendable, CustomStringConvertible {
    /// The AD type of the field.
    package var type: AdvertisingDataType
    /// The size of the field in octets, including length and type.
    package var octets: Int

    /// Creates an error for a field of that type and size.
    package init(type: AdvertisingDataType, octets: Int) {
        self.type = type
        self.octets = octets
    }

    /// The exceeded limit, as one line of text.
    package var description: String {
        "\(type) takes \(octets) octets, and an AD structure has at most \(AdvertisingField.maximumCount)"
    }
}
