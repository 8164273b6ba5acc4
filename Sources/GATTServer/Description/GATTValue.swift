/// The value of a characteristic, and whether it can change.
///
/// ```swift
/// GATTCharacteristic(.modelNumber, properties: .read, value: .cached(Array("M1".utf8)))
/// GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: .stored([100]))
/// ```
public enum GATTValue: Hashable, Sendable {
    /// The value stays the same for as long as the service is published, and can only be read. Publishing fails
    /// if a property, a permission or a handler would let it change. An array literal of octets makes this case.
    case cached([UInt8])
    /// Clients that write the value replace it, and the application can replace it.
    case stored([UInt8])

    /// The initial value, in octets.
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
