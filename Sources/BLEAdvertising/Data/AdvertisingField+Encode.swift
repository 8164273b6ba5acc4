import BLECore

extension AdvertisingField {
    /// What the field is about.
    package var type: AdvertisingDataType { parts.type }

    /// Octets of the whole AD structure: length, type and content.
    package var encodedCount: Int { 2 + parts.content.encodedCount }

    /// The octets after the type.
    package var content: [UInt8] { parts.content.encoded }

    /// The most octets that an AD structure can take, for its length is one octet.
    package static let maximumCount = 256

    /// Writes the AD structure. `output` has room for `encodedCount` octets, of which there are no more
    /// than `maximumCount`; the caller sees to both.
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

/// Bytes that are their own encoding.
private struct Octets: PacketEncodable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var encodedCount: Int { bytes.count }

    func encode(into output: inout OutputSpan<UInt8>) { output.bytes(bytes) }
}

extension AdvertisingData {
    /// The payload of `fields`, in that order and however long.
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
    /// What the field is about.
    package var type: AdvertisingDataType
    /// Octets that it would take, length and type included.
    package var octets: Int

    /// A field of that type and size.
    package init(type: AdvertisingDataType, octets: Int) {
        self.type = type
        self.octets = octets
    }

    /// One line, with the limit.
    package var description: String {
        "\(type) takes \(octets) octets, and an AD structure has at most \(AdvertisingField.maximumCount)"
    }
}
