import BLECore

/// Service data in an advertisement (Core Specification Supplement v11, Part A, 1.11).
///
/// ```swift
/// var content = AdvertisingContent()
/// content.serviceData = [ServiceData(0x180f, [80])]
/// ```
public struct ServiceData: Hashable, Sendable {
    /// The UUID of the service that defines the data.
    public let uuid: BluetoothUUID
    /// The width of its UUID on the wire.
    package let width: UUIDWidth
    /// The data, in a format that the service defines.
    public var data: [UInt8]

    /// Creates data of the service `uuid`, encoded in the smallest width that holds it.
    public init(_ uuid: BluetoothUUID, _ data: [UInt8]) { self.init(uuid, data, width: .two) }

    /// Creates data of the service `uuid`. Its width is the smallest that holds the UUID, or `width` if that
    /// is larger.
    package init(_ uuid: BluetoothUUID, _ data: [UInt8], width: UUIDWidth) {
        self.uuid = uuid
        self.width = .wider(uuid.width, width)
        self.data = data
    }

    /// The AD type for that width.
    package var type: AdvertisingDataType {
        switch width {
        case .two: .serviceData16
        case .four: .serviceData32
        case .sixteen: .serviceData128
        }
    }
}

extension ServiceData: PacketEncodable {
    package var encodedCount: Int { width.rawValue + data.count }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.uuid(uuid, width: width)
        output.bytes(data)
    }

    init(decoding reader: inout ByteReader, width: UUIDWidth) throws(DecodeError) {
        uuid = try reader.uuid(width, "service UUID")
        self.width = width
        data = reader.rest()
    }
}

extension AdvertisingDataType {
    /// The width of the UUID, or nil if this is not a type of service data.
    var serviceDataWidth: UUIDWidth? {
        switch self {
        case .serviceData16: .two
        case .serviceData32: .four
        case .serviceData128: .sixteen
        default: nil
        }
    }
}
