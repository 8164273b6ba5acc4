/// The value of a characteristic, and whether it may change.
///
/// ```swift
/// GATTCharacteristic(.modelNumber, properties: .read, value: .cached(Array("M1".utf8)))
/// GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: .stored([100]))
/// ```
public enum GATTValue: Hashable, Sendable {
    /// Stays as it is for as long as the service is published, and can only be read: publishing refuses it with a
    /// property, a permission or a handler by which it would be other than that. A list of octets means this.
    case cached([UInt8])
    /// What clients write replaces it, and so may the application.
    case stored([UInt8])

    /// The octets that the value begins with.
    public var octets: [UInt8] {
        switch self {
        case .cached(let octets), .stored(let octets): octets
        }
    }
}

extension GATTValue: ExpressibleByArrayLiteral {
    /// Creates a cached value, which is read only.
    public init(arrayLiteral octets: UInt8...) { self = .cached(octets) }
}
