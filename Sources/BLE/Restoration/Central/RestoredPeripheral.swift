import ATT
import BLECore

/// A device that a manager was connected to, or was connecting to, when its process ended.
public struct RestoredPeripheral: Hashable, Sendable, Identifiable {
    /// The identifier that `connect` accepts.
    public let id: Peripheral.Identifier
    /// Whether there was a link, or a caller waited for one.
    public var state: PeripheralState
    /// The options of the requested link.
    public var options: ConnectionOptions
    /// The subscriptions whose values were streamed.
    public var subscriptions: [RestoredSubscription]

    init(
        _ id: Peripheral.Identifier, _ state: PeripheralState = .connecting,
        options: ConnectionOptions = ConnectionOptions(), subscriptions: [RestoredSubscription] = []
    ) {
        self.id = id
        self.state = state
        self.options = options
        self.subscriptions = subscriptions
    }

    /// Returns the two states of one device as one.
    func merged(with later: RestoredPeripheral) -> RestoredPeripheral {
        var merged = later
        if state == .connected { merged.state = .connected }
        // A link without encryption would not do for both.
        if options.encryptsIfBonded { merged.options.encryptsIfBonded = true }
        merged.subscriptions = subscriptions + later.subscriptions.filter { !subscriptions.contains($0) }
        return merged
    }
}

/// A stream of values that was open when the process ended, with the arguments of `Peripheral.values(of:)`.
public struct RestoredSubscription: Hashable, Sendable {
    /// The UUID of the characteristic.
    public var characteristic: BluetoothUUID
    /// The handle of the characteristic's value.
    public var handle: AttributeHandle
    /// Whether the values arrived as indications.
    public var indications: Bool
    /// The policy for a consumer that fell behind.
    public var buffer: BufferPolicy
    /// The policy for the confirmation of indications.
    public var confirming: IndicationConfirmation
    /// Whether the rest of truncated values was read.
    public var completing: Bool
}
