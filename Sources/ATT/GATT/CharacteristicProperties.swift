/// The operations that a characteristic's value supports (Core Specification 5.4, Vol 3, Part G, 3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The octet of the characteristic declaration (Core Specification 5.4, Vol 3, Part G, 3.3.1.1).
    public let rawValue: UInt8

    /// Creates properties from the octet of the declaration.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value can be broadcast in advertising. For that, a server adds a Server Characteristic
    /// Configuration (0x2903), which all clients share, and reports its writes like any others. The
    /// application puts the value into its advertisement as service data (Core Specification 5.4, Vol 3, Part
    /// G, 2.7 and 3.3.3.4).
    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    /// Clients can read the value.
    public static let read = CharacteristicProperties(rawValue: 0x02)
    /// Clients can write the value by Write Command, which has no response.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    /// Clients can write the value by Write Request.
    public static let write = CharacteristicProperties(rawValue: 0x08)
    /// The server sends the value to subscribed clients, which do not confirm it.
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    /// The server sends the value to subscribed clients, which confirm it.
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    /// Clients can write the value by Signed Write Command.
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    /// The descriptor `ExtendedCharacteristicProperties` has further properties.
    public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)

    /// All properties that allow writing.
    package static let anyWrite: CharacteristicProperties = [
        .write, .writeWithoutResponse, .authenticatedSignedWrites,
    ]
    /// Both ways in which a client can subscribe.
    package static let anyNotification: CharacteristicProperties = [.notify, .indicate]
}

extension CharacteristicProperties: CustomStringConvertible {
    static let names: [(CharacteristicProperties, String)] = [
        (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "writeWithoutResponse"),
        (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
        (.authenticatedSignedWrites, "signedWrite"), (.extendedProperties, "extended"),
    ]

    /// The names of the properties, least significant bit first: `["read", "notify"]`.
    package var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }

    /// The names of the properties, least significant bit first: `read|notify`.
    public var description: String { names.joined(separator: "|") }
}

/// The properties that the Characteristic Extended Properties descriptor adds (Core Specification 5.4, Vol 3,
/// Part G, 3.3.3.1).
public struct ExtendedCharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The 16 bits of the descriptor, of which two are in use (Core Specification 5.4, Vol 3, Part G,
    /// 3.3.3.1).
    public let rawValue: UInt16

    /// Creates properties from the 16 bits of the descriptor.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Clients can write the value by prepared writes whose echo they compare.
    public static let reliableWrite = ExtendedCharacteristicProperties(rawValue: 0x0001)
    /// Clients can write the User Description.
    public static let writableAuxiliaries = ExtendedCharacteristicProperties(rawValue: 0x0002)
}

/// How a client is subscribed to a characteristic's values (Core Specification 5.4, Vol 3, Part G, 3.3.3.3).
/// Each client has its own configuration.
public struct ClientCharacteristicConfiguration: OptionSet, Hashable, Sendable {
    /// The 16 bits of the descriptor, of which two are in use (Core Specification 5.4, Vol 3, Part G,
    /// 3.3.3.3).
    public let rawValue: UInt16

    /// Creates a configuration from the 16 bits of the descriptor.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The server sends the values by notification.
    public static let notify = ClientCharacteristicConfiguration(rawValue: 0x0001)
    /// The server sends the values by indication.
    public static let indicate = ClientCharacteristicConfiguration(rawValue: 0x0002)
}

/// Whether a characteristic's value is broadcast (Core Specification 5.4, Vol 3, Part G, 3.3.3.4). All
/// clients share it.
package struct ServerCharacteristicConfiguration: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The value is broadcast in advertising.
    package static let broadcast = ServerCharacteristicConfiguration(rawValue: 0x0001)
}
