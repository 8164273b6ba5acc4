import BLECore

/// The fields that a device advertises. `AdvertisingPlan` converts them to packets.
public struct AdvertisingContent: Hashable, Sendable {
    /// The discoverability of the device. With nil, the kind determines the flags: 0x06 for a connectable
    /// advertisement and for an iBeacon, none otherwise.
    public var flags: AdvertisingFlags?
    /// The name (Local Name), which the overflow policy can shorten.
    public var name: String?
    /// The services that the device offers, in the order of importance.
    public var services: [BluetoothUUID] = []
    /// The services that the device searches for on centrals.
    public var solicited: [BluetoothUUID] = []
    /// The manufacturer specific data, in the order of the packet.
    public var manufacturer: [ManufacturerData] = []
    /// The service data, in the order of the packet.
    public var serviceData: [ServiceData] = []
    /// The appearance of the device, by which scanners can choose an icon for it.
    public var appearance: Appearance?
    /// The transmit power field, in dBm.
    public var txPower: Int8?
    /// A URI, for example a web page of the device.
    public var uri: AdvertisedURI?
    /// An iBeacon, in addition to the other manufacturer data.
    public var iBeacon: IBeacon?
    /// An Eddystone-URL, in addition to the other service data, with its service.
    public var eddystoneURL: EddystoneURL?
    /// A whole packet to send unchanged; it cannot be combined with other fields.
    public var raw: [UInt8]?
    /// A whole scan response to send unchanged; no field can be moved to it. Of extended advertisements, only
    /// scannable ones can have it, and then nothing else (Core Specification 5.4, Vol 4, Part E, 7.8.54).
    public var rawScanResponse: [UInt8]?

    /// Creates content without any field.
    public init() {}
}

extension AdvertisingContent {
    /// A part of a packet. The cases are in the order of the packet, which is that of importance: when there
    /// is not enough room, fields are removed from the end. Raw values are the words of the command line's
    /// JSON.
    public enum Field: String, Hashable, Sendable, CaseIterable {
        /// The discoverability of the device; never removed.
        case flags
        /// The services that the device offers; one field for each width of UUIDs.
        case services
        /// The services that the device searches for; one field for each width of UUIDs.
        case solicited
        /// The URI, with its scheme shortened.
        case uri
        /// The data of one company, including an iBeacon.
        case manufacturer
        /// The data of one service, including Eddystone.
        case serviceData
        /// The appearance of the device.
        case appearance
        /// The transmit power field, in dBm.
        case txPower
        /// The name, which the overflow policy can shorten.
        case name
        /// A whole packet that the caller provided.
        case raw
        /// A whole scan response that the caller provided.
        case rawScanResponse
    }

    /// Returns the fields of a packet of that kind, in the order of the packet.
    func pieces(for kind: AdvertisingKind) -> [AdvertisingPlan.Piece] {
        var pieces: [AdvertisingPlan.Piece] = []
        func add(_ field: Field, _ value: AdvertisingField?) {
            if let value { pieces.append(AdvertisingPlan.Piece(field: field, value: value)) }
        }
        func add(_ field: Field, _ kind: ServiceUUIDs.Kind, _ uuids: [BluetoothUUID]) {
            for width in UUIDWidth.allCases {
                let wide = uuids.filter { $0.width == width }
                if !wide.isEmpty { add(field, .services(ServiceUUIDs(kind, wide, width: width))) }
            }
        }
        let isDiscoverable = kind == .connectable || iBeacon != nil
        add(.flags, (flags ?? (isDiscoverable ? .discoverable : nil)).map(AdvertisingField.flags))
        let eddystoneService = eddystoneURL.map { _ in EddystoneURL.service }
        let isListed = eddystoneService.map(services.contains) ?? true
        add(.services, .complete, isListed ? services : services + [EddystoneURL.service])
        add(.solicited, .solicited, solicited)
        add(.uri, uri.map(AdvertisingField.uri))
        let companies = (iBeacon.map { [$0.manufacturerData] } ?? []) + manufacturer
        for data in companies { add(.manufacturer, .manufacturer(data)) }
        let beacons = (eddystoneURL.map { [$0.serviceData] } ?? []) + serviceData
        for data in beacons { add(.serviceData, .serviceData(data)) }
        add(.appearance, appearance.map(AdvertisingField.appearance))
        add(.txPower, txPower.map(AdvertisingField.txPower))
        add(.name, name.map { .name(LocalName(UTF8Text($0))) })
        return pieces
    }
}
