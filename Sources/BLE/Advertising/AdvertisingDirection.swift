import BLECore

/// The single device that directed advertising is for (Core Specification 5.4, Vol 6, Part B, 4.4.2.4).
public struct AdvertisingDirection: Hashable, Sendable {
    /// The rate at which directed advertising is sent.
    public enum DutyCycle: Hashable, Sendable {
        /// At the interval of the request, until it is stopped.
        case low
        /// Every 3.75 ms, for 1.28 s, after which the controller ends the advertising. Legacy packets only.
        case high
    }

    /// The device that the advertising is meant for, as the packets name it: a bonded peer by its identity
    /// address, even when this adapter hides its own (`AdapterOptions.privacy`). Undirected advertising names
    /// no peer.
    public var peer: DeviceAddress
    /// The rate at which the packets are sent.
    public var dutyCycle: DutyCycle

    /// Creates a direction for `peer`, at the low duty cycle by default.
    public init(_ peer: DeviceAddress, dutyCycle: DutyCycle = .low) {
        self.peer = peer
        self.dutyCycle = dutyCycle
    }

    /// The maximum time for which the controller advertises at the high duty cycle.
    static let highDutyCycleLimit = Duration.milliseconds(1280)
}
