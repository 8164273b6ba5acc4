/// The kind of a chain's step.
public enum ChainStep: String, Hashable, Sendable, CaseIterable {
    /// The scan that searches for the device.
    case scan
    /// Connecting to the device.
    case connect
    /// Reading the value of a characteristic.
    case read
    /// Writing the value of a characteristic.
    case write
    /// A subscription, and the values that come of it.
    case values
    /// An action that the caller supplies.
    case use
}

/// Which step of a chain has failed, and why.
public struct ChainError: Error, Hashable, Sendable {
    /// The channel that the chain is of.
    public let channel: String
    /// The step that failed.
    public let step: ChainStep
    /// The device, once it was found.
    public let device: Peripheral.Identifier?
    /// The error with which the step failed.
    public let error: BLEError
}

extension ChainError: CustomStringConvertible {
    /// `kitchen: connect: connecting took longer than 5 s`.
    public var description: String { "\(channel.isEmpty ? "" : "\(channel): ")\(step.rawValue): \(error)" }
}

/// A step of a chain that begins, ends or fails.
public enum ChainEvent: Hashable, Sendable {
    /// A step begins; of all but the scan the device is known.
    case began(ChainStep, Peripheral.Identifier?)
    /// The scan has found the device.
    case found(Advertisement)
    /// A step has succeeded; of all but the scan the device is known.
    case done(ChainStep, Peripheral.Identifier?)
    /// A step has failed, and the chain with it.
    case failed(ChainError)
}
