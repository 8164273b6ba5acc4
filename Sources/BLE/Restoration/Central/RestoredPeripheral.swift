import ATT
import BLECore

/// A device that a manager was connected to, or was connecting to, when its process ended.
public struct RestoredPeripheral: Hashable, Sendable, Identifiable {
    /// The identifier that `connect` accepts.
    public let id: Peripheral.Identifier
    /// Whether there was a link, or a caller waited for one.
    public var state: PeripheralState
    /// What the link was to be like.
    public var options: ConnectionOptions
    /// The streams of values that there were.
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

    /// The two, which are about one device, as one.
    func merged(with later: RestoredPeripheral) -> RestoredPeripheral {
        var merged = later
        if state == .connected { merged.state = .connected }
        merged.subscriptions = subscriptions + later.subscriptions.filter { !subscriptions.contains($0) }
        return merged
    }
}

/// A stream of values that there was when the process ended: what `Peripheral.values(of:)` was asked for.
public struct RestoredSubscription: Hashable, Sendable {
    /// The UUID of the characteristic.
    public var characteristic: BluetoothUUID
    /// The handle of the characteristic's value.
    public var handle: AttributeHandle
    /// Whether the values came by indication.
    public var indications: Bool
    /// What happened when the consumer fell behind.
    public var buffer: BufferPolicy
    /// When the stream confirmed indications.
    public var confirming: IndicationConfirmation
    /// Whether the rest of cut values was read.
    public var completing: Bool
}
