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

    /// The generic services of a device.
    public init(
        deviceName: String = "", appearance: UInt16 = 0, preferredConnection: PreferredConnection? = nil
    ) {
        self.deviceName = deviceName
        self.appearance = appearance
        self.preferredConnection = preferredConnection
    }

    var services: [GATTService] {
        var gap = [
            GATTCharacteristic(
                .deviceName, properties: .read, value: Array(deviceName.utf8), length: .variable(max: 248)),
            GATTCharacteristic(.appearance, properties: .read, value: littleEndian([appearance])),
        ]
        if let wish = preferredConnection {
            let words = [wish.minimumInterval, wish.maximumInterval, wish.latency, wish.timeout]
            gap.append(
                GATTCharacteristic(
                    .peripheralPreferredConnectionParameters, properties: .read, value: littleEndian(words)))
        }
        let serviceChanged = GATTCharacteristic(.serviceChanged, properties: .indicate, length: .fixed(4))
        return [
            GATTService(.genericAccess, characteristics: gap),
            GATTService(.genericAttribute, characteristics: [serviceChanged]),
        ]
    }
}

private func littleEndian(_ words: [UInt16]) -> [UInt8] {
    words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
}
