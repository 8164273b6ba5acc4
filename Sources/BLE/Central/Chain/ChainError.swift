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
    /// A subscription, and the values that it delivers.
    case values
    /// An action that the caller supplies.
    case use
}

/// The step of a chain that failed, and its error.
public struct ChainError: Error, Hashable, Sendable {
    /// The name of the channel that the chain belongs to.
    public let channel: String
    /// The step that failed.
    public let step: ChainStep
    /// The device, once it was found.
    public let device: Peripheral.Identifier?
    /// The error with which the step failed.
    public let error: BLEError
}

extension ChainError: CustomStringConvertible {
    /// A description such as `kitchen: connect: connecting took longer than 5 s`.
    public var description: String { "\(channel.isEmpty ? "" : "\(channel): ")\(step.rawValue): \(error)" }
}

/// A step of a chain that begins, ends or fails.
public enum ChainEvent: Hashable, Sendable {
    /// A step begins. The device is nil only for the scan.
    case began(ChainStep, Peripheral.Identifier?)
    /// The scan has found the device.
    case found(Advertisement)
    /// A step has succeeded. The device is nil only for the scan.
    case done(ChainStep, Peripheral.Identifier?)
    /// A step has failed, and the chain with it.
    case failed(ChainError)
}
