import ATT
import BLEAdvertising
import BLECore
import GATTClient

/// What a device shows of its server.
struct DeviceImage: Sendable {
    /// What an attribute shows.
    struct Shown: Hashable, Sendable {
        /// The value; nil when it could not be read.
        var value: [UInt8]?
        /// Why there is none.
        var reason: String?
        /// What the link had to be for it.
        var level = SecurityLevel.open
        /// Whether only a longer key would do.
        var needsLongKey = false
        /// Whether no link will do.
        var isUnreadable = false
    }

    /// What the device advertises that takes connections.
    struct Advertised: Hashable, Sendable {
        /// The payload of its advertisement.
        var data: [UInt8]
        /// That of its scan response; nil when it has none.
        var scanResponse: [UInt8]?
        /// Whether the packets are those of extended advertising.
        var isExtended: Bool

        /// Whether a file can have it: what no advertiser should send, `serve` does not send either.
        var isValid: Bool {
            AdvertisingData(data).problem == nil && AdvertisingData(scanResponse ?? []).problem == nil
        }
    }

    var address: DeviceAddress
    /// What the device advertises; nil when that is not known.
    var advertised: Advertised?
    /// The ATT_MTU that the device agreed to; nil where this host offered less than the most.
    var mtu: Int?
    var database: RemoteDatabase
    /// What attributes show, by handle.
    var shown: [AttributeHandle: Shown] = [:]

    /// The attributes whose values reading may give: not the configuration of each client's own, nor what is only
    /// sent.
    static func readable(_ database: RemoteDatabase) -> [AttributeHandle] {
        database.services.flatMap(\.characteristics).flatMap { characteristic in
            (characteristic.properties.contains(.read) ? [characteristic.valueHandle] : [])
                + characteristic.descriptors.filter { $0.uuid != 0x2902 }.map(\.handle)
        }
    }

    /// Handle and type of every attribute, with the properties of values: what two servers must have in common to look
    /// the same to a client that knows one of them.
    var layout: [LayoutRow] {
        database.services.flatMap { service in
            [LayoutRow(service.handle, service.isPrimary ? 0x2800 : 0x2801)]
                + service.includes.map { LayoutRow($0.handle, 0x2802) }
                + service.characteristics.flatMap { characteristic in
                    [
                        LayoutRow(characteristic.handle, 0x2803),
                        LayoutRow(characteristic.valueHandle, characteristic.uuid, characteristic.properties),
                    ] + characteristic.descriptors.map { LayoutRow($0.handle, $0.uuid) }
                }
        }.sorted { $0.handle < $1.handle }
    }
}

/// An attribute as discovery shows it.
struct LayoutRow: Hashable, Sendable {
    var handle: AttributeHandle
    var uuid: BluetoothUUID
    /// What can be done with it, when it is a characteristic's value.
    var properties: CharacteristicProperties?

    init(
        _ handle: AttributeHandle, _ uuid: BluetoothUUID, _ properties: CharacteristicProperties? = nil
    ) {
        self.handle = handle
        self.uuid = uuid
        self.properties = properties
    }
}
