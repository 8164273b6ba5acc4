import ATT
import BLECore

/// The services that every server has: GAP (Core Specification 5.4, Vol 3, Part C, 12) and GATT (Part G, 7).
public struct GenericServices: Hashable, Sendable {
    /// The device's name, up to 248 octets of UTF-8 (Part C, 12.1). If nil, the name is that of the
    /// connectable advertisement that was started last, and empty before that.
    public var deviceName: String?
    /// The appearance of the device, from the SIG's Assigned Numbers; 0 is unknown (Part C, 12.2).
    public var appearance: UInt16
    /// The connection parameters that the device prefers as a peripheral; nil for no such characteristic
    /// (Part C, 12.3).
    public var preferredConnection: ConnectionParameters?

    /// Whether this host, as a central, resolves private addresses; nil for no such characteristic (Part C,
    /// 12.4).
    public var resolvesAddresses: Bool?

    /// Creates the generic services of a device.
    public init(
        deviceName: String? = nil, appearance: UInt16 = 0, preferredConnection: ConnectionParameters? = nil,
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
                .deviceName, properties: .read, value: .stored(Array((deviceName ?? "").utf8)),
                length: .variable(max: 248)),
            GATTCharacteristic(
                .appearance, properties: .read, value: .stored([UInt8](littleEndian: appearance))),
        ]
        if let preferredConnection {
            gap.append(
                GATTCharacteristic(
                    .peripheralPreferredConnectionParameters, properties: .read,
                    value: .stored(preferredConnection.steps.flatMap { [UInt8](littleEndian: $0) })))
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

    /// The GATT service. It has no server features, because the server has one bearer per link.
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

extension ConnectionParameters {
    /// The parameters as the characteristic encodes them: the interval in steps of 1.25 ms, the timeout in
    /// steps of 10 ms, each rounded to the nearest.
    fileprivate var steps: [UInt16] {
        func steps(_ time: Duration, _ step: Duration) -> UInt16 {
            UInt16(min(max((time / step).rounded(), 0), Double(UInt16.max)))
        }
        let step = Duration.microseconds(1250)
        return [
            steps(interval.lowerBound, step), steps(interval.upperBound, step), UInt16(clamping: latency),
            steps(supervisionTimeout, .milliseconds(10)),
        ]
    }
}
