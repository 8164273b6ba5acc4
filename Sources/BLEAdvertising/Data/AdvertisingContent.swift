import BLECore

/// The fields that a device advertises. `AdvertisingPlan` makes packets of it.
public struct AdvertisingContent: Hashable, Sendable {
    /// How the device can be discovered. Nil leaves it to the kind: 0x06 for a connectable advertisement
    /// and for an iBeacon, none otherwise.
    public var flags: AdvertisingFlags?
    /// The name (Local Name), which may be shortened by the policy for overflow.
    public var name: String?
    /// Services that the device offers, in the order of importance.
    public var services: [BluetoothUUID] = []
    /// The services that the device searches for on centrals.
    public var solicited: [BluetoothUUID] = []
    /// Manufacturer specific data, in the order of the packet.
    public var manufacturer: [ManufacturerData] = []
    /// Service data, in the order of the packet.
    public var serviceData: [ServiceData] = []
    /// The appearance of the device, as an icon would show it.
    public var appearance: Appearance?
    /// The transmit power field, in dBm.
    public var txPower: Int8?
    /// A URI, for example a web page of the device.
    public var uri: AdvertisedURI?
    /// An iBeacon, one more of the manufacturer data.
    public var iBeacon: IBeacon?
    /// An Eddystone-URL, one more of the service data, with its service.
    public var eddystoneURL: EddystoneURL?
    /// The whole packet, to be sent as it is; nothing else can be said in it.
    public var raw: [UInt8]?
    /// The whole scan response, to be sent as it is; no field can move there.
    public var rawScanResponse: [UInt8]?

    /// Creates content without a field.
    public init() {}
}

extension AdvertisingContent {
    /// What a part of a packet says. The cases are in the order of the packet, which is that of importance:
    /// when there is not enough room, fields leave from the end. Raw values are the words of the command
    /// line's JSON.
    public enum Field: String, Hashable, Sendable, CaseIterable {
        /// How the device can be discovered; stays.
        case flags
        /// Services that the device offers; one field for each width of UUIDs.
        case services
        /// Services that it looks for; one field for each width of UUIDs.
        case solicited
        /// The URI, with its scheme shortened.
        case uri
        /// What one company says; iBeacon among others.
        case manufacturer
        /// What one service says; Eddystone among others.
        case serviceData
        /// The appearance of the device.
        case appearance
        /// The transmit power field, in dBm.
        case txPower
        /// The name, which the policy for overflow may shorten.
        case name
        /// A whole packet that was given.
        case raw
        /// A whole scan response that was given.
        case rawScanResponse
    }

    /// The fields of a packet of that kind, in its order.
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
