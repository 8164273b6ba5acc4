import ATT
import BLECore

/// The services that every server has: GAP (Core Specification 5.4, Vol 3, Part C, 12) and GATT (Part G, 7).
public struct GenericServices: Hashable, Sendable {
    /// The connection parameters that the device would like (Part C, 12.3).
    public struct PreferredConnection: Hashable, Sendable {
        /// The least interval, in units of 1.25 ms, 6 to 3200; 0xffff for any.
        public var minimumInterval: UInt16
        /// The greatest interval, in units of 1.25 ms, 6 to 3200; 0xffff for any.
        public var maximumInterval: UInt16
        /// Connection events that the peripheral may skip, 0 to 499.
        public var latency: UInt16
        /// The supervision timeout, in units of 10 ms, 10 to 3200; 0xffff for any.
        public var timeout: UInt16

        /// Parameters.
        public init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, timeout: UInt16) {
            self.minimumInterval = minimumInterval
            self.maximumInterval = maximumInterval
            self.latency = latency
            self.timeout = timeout
        }
    }

    /// The device's name, up to 248 octets of UTF-8 (Part C, 12.1).
    public var deviceName: String
    /// What the device looks like, from the SIG's Assigned Numbers; 0 is unknown (Part C, 12.2).
    public var appearance: UInt16
    /// The connection parameters that the device would like, if it says.
    public var preferredConnection: PreferredConnection?

    /// Whether this host, as a central, resolves private addresses, if it says (Part C, 12.4).
    public var resolvesAddresses: Bool?

    /// The generic services of a device.
    public init(
        deviceName: String = "", appearance: UInt16 = 0, preferredConnection: PreferredConnection? = nil,
        resolvesAddresses: Bool? = nil
    ) {
        self.deviceName = deviceName
        self.appearance = appearance
        self.preferredConnection = preferredConnection
        self.resolvesAddresses = resolvesAddresses
    }

    var services: [GATTService] {
        var gap = [
            GATTCharacteristic(
                .deviceName, properties: .read, value: .stored(Array(deviceName.utf8)),
                length: .variable(max: 248)),
            GATTCharacteristic(.appearance, properties: .read, value: .stored(littleEndian([appearance]))),
        ]
        if let wish = preferredConnection {
            let words = [wish.minimumInterval, wish.maximumInterval, wish.latency, wish.timeout]
            gap.append(
                GATTCharacteristic(
                    .peripheralPreferredConnectionParameters, properties: .read,
                    value: .stored(littleEndian(words))))
        }
        if let resolvesAddresses {
            gap.append(
                GATTCharacteristic(
                    .centralAddressResolution, properties: .read, value: [resolvesAddresses ? 1 : 0]))
        }
        return [
            GATTService(.genericAccess, characteristics: gap),
            GATTService(.genericAttribute, characteristics: Self.genericAttribute),
        ]
    }

    /// The GATT service. The features of the server are none: it has one bearer a link.
    private static var genericAttribute: [GATTCharacteristic] {
        var changed = GATTCharacteristic(.serviceChanged, properties: .indicate, length: .fixed(4))
        changed.role = .serviceChanged
        var features = GATTCharacteristic(.clientSupportedFeatures, properties: [.read, .write])
        features.role = .clientFeatures
        var hash = GATTCharacteristic(.databaseHash, properties: .read, length: .fixed(16))
        hash.role = .databaseHash
        return [
            changed, features, hash,
            GATTCharacteristic(
                .serverSupportedFeatures, properties: .read, value: [ServerSupportedFeatures().rawValue]),
        ]
    }
}

private func littleEndian(_ words: [UInt16]) -> [UInt8] {
    words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
}
