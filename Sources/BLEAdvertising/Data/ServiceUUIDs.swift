import BLECore

/// A list of service UUIDs of one width, which the device offers or searches for (Core Specification
/// Supplement v11, Part A, 1.1 and 1.10).
package struct ServiceUUIDs: Hashable, Sendable {
    /// The meaning of the list.
    package enum Kind: Hashable, Sendable {
        /// Some of the services that the device offers.
        case incomplete
        /// All services with UUIDs of this width that the device offers.
        case complete
        /// Services that the device searches for.
        case solicited
    }

    /// The meaning of the list.
    package let kind: Kind
    /// The width of each UUID on the wire.
    package let width: UUIDWidth
    /// The services, in the order on the wire; the list can be empty.
    package let uuids: [BluetoothUUID]

    /// Creates a list of `uuids`. Its width is that of the widest of them, or `width` if that is larger.
    package init(_ kind: Kind, _ uuids: [BluetoothUUID], width: UUIDWidth = .two) {
        self.kind = kind
        self.uuids = uuids
        self.width = uuids.map(\.width).reduce(width, UUIDWidth.wider)
    }

    /// The AD type of such a list.
    package var type: AdvertisingDataType {
        switch (kind, width) {
        case (.incomplete, .two): .incompleteServiceUUIDs16
        case (.incomplete, .four): .incompleteServiceUUIDs32
        case (.incomplete, .sixteen): .incompleteServiceUUIDs128
        case (.complete, .two): .completeServiceUUIDs16
        case (.complete, .four): .completeServiceUUIDs32
        case (.complete, .sixteen): .completeServiceUUIDs128
        case (.solicited, .two): .solicitedServiceUUIDs16
        case (.solicited, .four): .solicitedServiceUUIDs32
        case (.solicited, .sixteen): .solicitedServiceUUIDs128
        }
    }
}

extension ServiceUUIDs: PacketEncodable {
    package var encodedCount: Int { uuids.count * width.rawValue }

    package func encode(into output: inout OutputSpan<UInt8>) {
        for uuid in uuids { output.uuid(uuid, width: width) }
    }

    /// Reads all remaining octets as UUIDs in the given form.
    init(decoding reader: inout ByteReader, form: AdvertisingDataType.UUIDListForm) throws(DecodeError) {
        kind = form.kind
        width = form.width
        var uuids: [BluetoothUUID] = []
        uuids.reserveCapacity(reader.remaining / width.rawValue)
        while reader.remaining > 0 { uuids.append(try reader.uuid(width, "service UUID")) }
        self.uuids = uuids
    }
}

extension AdvertisingDataType {
    /// The form of a list of UUIDs, which its AD type determines.
    struct UUIDListForm {
        let kind: ServiceUUIDs.Kind
        let width: UUIDWidth
    }

    /// The form of a list of this type, or nil if this is not a type of UUID lists.
    var uuidListForm: UUIDListForm? {
        switch self {
        case .incompleteServiceUUIDs16: UUIDListForm(kind: .incomplete, width: .two)
        case .incompleteServiceUUIDs32: UUIDListForm(kind: .incomplete, width: .four)
        case .incompleteServiceUUIDs128: UUIDListForm(kind: .incomplete, width: .sixteen)
        case .completeServiceUUIDs16: UUIDListForm(kind: .complete, width: .two)
        case .completeServiceUUIDs32: UUIDListForm(kind: .complete, width: .four)
        case .completeServiceUUIDs128: UUIDListForm(kind: .complete, width: .sixteen)
        case .solicitedServiceUUIDs16: UUIDListForm(kind: .solicited, width: .two)
        case .solicitedServiceUUIDs32: UUIDListForm(kind: .solicited, width: .four)
        case .solicitedServiceUUIDs128: UUIDListForm(kind: .solicited, width: .sixteen)
        default: nil
        }
    }
}

extension UUIDWidth {
    /// Returns the larger of two widths.
    static func wider(_ left: UUIDWidth, _ right: UUIDWidth) -> UUIDWidth {
        left.rawValue > right.rawValue ? left : right
    }
}
