import ATT
import BLECore

/// A service as its owner describes it; `AttributeDatabase` creates attributes from it (Core Specification
/// 5.4, Vol 3, Part G, 3.1).
public struct GATTService: Sendable {
    /// The UUID of the service; several services can have the same.
    public var uuid: BluetoothUUID
    /// Whether the service is primary; false for a service that only others include.
    public var isPrimary: Bool
    /// The handle of the declaration; nil for the first room after the services before it.
    public var handle: AttributeHandle?
    /// The last handle of the service; nil for that of its last attribute. The handles between have no attribute,
    /// and no other service gets them. With 0xFFFF, as many devices end their last service, no service fits after
    /// this one.
    public var endHandle: AttributeHandle?
    /// The included services, declared before the characteristics.
    public var includes: [GATTInclude]
    /// The characteristics, in the order of the database.
    public var characteristics: [GATTCharacteristic]
    /// Whether the service is published as it is described even if it contradicts itself: properties that the
    /// permissions do not allow, descriptors that are repeated, missing or not in accordance with the
    /// properties, circular includes.
    /// Such services can also overlap, or end before their last attribute.
    package var allowsContradictions = false
    /// Whether the UUID has 128 bits on the air, also if it has a form of 16.
    package var hasLongUUID = false

    /// Creates a service, a primary one by default.
    public init(
        _ uuid: BluetoothUUID, isPrimary: Bool = true, handle: AttributeHandle? = nil,
        endHandle: AttributeHandle? = nil, includes: [GATTInclude] = [],
        characteristics: [GATTCharacteristic] = []
    ) {
        self.endHandle = endHandle
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.handle = handle
        self.includes = includes
        self.characteristics = characteristics
    }
}

/// The service that another one includes (Core Specification 5.4, Vol 3, Part G, 3.2).
public enum GATTInclude: Hashable, Sendable {
    /// The service whose declaration has this handle.
    case handle(AttributeHandle)
    /// The first service of this database with this UUID.
    case uuid(BluetoothUUID)
}

/// The allowed length of a value.
public enum AttributeLength: Hashable, Sendable {
    /// 0 to `max` octets; writing sets the length.
    case variable(max: Int)
    /// Always that many octets; writing fewer changes the first ones and keeps the rest (Core Specification
    /// 5.4, Vol 3, Part F, 3.4.5.1).
    case fixed(Int)

    /// A value of 0 to 512 octets.
    public static let any = AttributeLength.variable(max: ATTLimits.valueLength)

    /// The maximum length of the value in octets.
    public var maximum: Int {
        switch self {
        case .variable(let max): max
        case .fixed(let count): count
        }
    }
}

/// A characteristic as its owner describes it (Core Specification 5.4, Vol 3, Part G, 3.3).
public struct GATTCharacteristic: Sendable {
    /// The UUID of the characteristic; several in a service can have the same.
    public var uuid: BluetoothUUID
    /// The operations on the value that clients can use.
    public var properties: CharacteristicProperties
    /// Further properties of the value. Any of them sets `.extendedProperties` in `properties`.
    public var extendedProperties: ExtendedCharacteristicProperties
    /// The permissions to read and to write the value; nil for those that the properties imply.
    public var permissions: AttributePermissions?
    /// The security level that a link must have to subscribe. nil: the level that `permissions` require for
    /// reading, so that a value is not sent to clients that may not read it; `.open` if the value cannot be
    /// read. The minimum key size is that of `permissions`. Subscribing needs no authorization. The permissions
    /// of a 2902 descriptor in `descriptors`, if it has any, take precedence.
    public var subscription: SecurityLevel?
    /// The value that clients read, and whether it can change. An array literal, `value: [1]`, is a value that is only
    /// read, as in Core Bluetooth: one that is written, notified or indicated is `.stored([1])`.
    public var value: GATTValue
    /// The allowed length of the value.
    public var length: AttributeLength
    /// Provides a new value for each read, in place of the stored one.
    public var onRead: ReadHandler?
    /// Accepts or rejects what is written.
    public var onWrite: WriteHandler?
    /// The descriptors, in order. Those that the properties require and that are missing are added.
    public var descriptors: [GATTDescriptor]
    /// The handle of the declaration; nil for the one after the previous attribute.
    public var handle: AttributeHandle?
    /// The handle of the value; nil for the one after the declaration.
    public var valueHandle: AttributeHandle?
    /// The server's own use of the value, if there is one.
    var role: Attribute.Role?
    /// Whether the UUID has 128 bits on the air, also if it has a form of 16.
    package var hasLongUUID = false

    /// Creates a characteristic. Extended properties add `.extendedProperties` to `properties`.
    public init(
        _ uuid: BluetoothUUID, properties: CharacteristicProperties,
        extendedProperties: ExtendedCharacteristicProperties = [], permissions: AttributePermissions? = nil,
        subscription: SecurityLevel? = nil, value: GATTValue = .stored([]),
        length: AttributeLength = .any,
        onRead: ReadHandler? = nil, onWrite: WriteHandler? = nil, descriptors: [GATTDescriptor] = [],
        handle: AttributeHandle? = nil, valueHandle: AttributeHandle? = nil
    ) {
        self.uuid = uuid
        self.properties = extendedProperties.isEmpty ? properties : properties.union(.extendedProperties)
        self.extendedProperties = extendedProperties
        self.permissions = permissions
        self.subscription = subscription
        self.value = value
        self.length = length
        self.onRead = onRead
        self.onWrite = onWrite
        self.descriptors = descriptors
        self.handle = handle
        self.valueHandle = valueHandle
    }

    /// Creates a characteristic of a key's type, with its UUID. `value` is the stored value; nil for none, as
    /// with a value that `onRead` provides.
    ///
    /// ```swift
    /// GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: 80)
    /// ```
    @_disfavoredOverload
    public init<Value>(
        _ key: CharacteristicKey<Value>, properties: CharacteristicProperties,
        extendedProperties: ExtendedCharacteristicProperties = [], permissions: AttributePermissions? = nil,
        subscription: SecurityLevel? = nil, value: Value? = nil, length: AttributeLength = .any,
        onRead: ReadHandler? = nil, onWrite: WriteHandler? = nil, descriptors: [GATTDescriptor] = [],
        handle: AttributeHandle? = nil, valueHandle: AttributeHandle? = nil
    ) {
        self.init(
            key.characteristic, properties: properties, extendedProperties: extendedProperties,
            permissions: permissions, subscription: subscription,
            value: .stored(value.map { key.encode($0) } ?? []), length: length, onRead: onRead,
            onWrite: onWrite, descriptors: descriptors, handle: handle, valueHandle: valueHandle)
    }
}

/// A descriptor as its owner describes it (Core Specification 5.4, Vol 3, Part G, 3.3.3). The value, length
/// and handlers of a Client Characteristic Configuration are ignored, because each client has its own value.
public struct GATTDescriptor: Sendable {
    /// The UUID of the descriptor, which determines the meaning of its value.
    public var uuid: BluetoothUUID
    /// The permissions of the descriptor; nil for those that its kind implies.
    public var permissions: AttributePermissions?
    /// The stored value; what clients write replaces it.
    public var value: [UInt8]
    /// The allowed length of the value.
    public var length: AttributeLength
    /// Provides a new value for each read, in place of the stored one.
    public var onRead: ReadHandler?
    /// Accepts or rejects what is written.
    public var onWrite: WriteHandler?
    /// The handle of the descriptor; nil for the one after the previous attribute.
    public var handle: AttributeHandle?
    /// Whether the UUID has 128 bits on the air, also if it has a form of 16.
    package var hasLongUUID = false

    /// Creates a descriptor with a stored value, which is empty by default.
    public init(
        _ uuid: BluetoothUUID, permissions: AttributePermissions? = nil, value: [UInt8] = [],
        length: AttributeLength = .any, onRead: ReadHandler? = nil, onWrite: WriteHandler? = nil,
        handle: AttributeHandle? = nil
    ) {
        self.uuid = uuid
        self.permissions = permissions
        self.value = value
        self.length = length
        self.onRead = onRead
        self.onWrite = onWrite
        self.handle = handle
    }

    /// Creates a Characteristic User Description with this text (Core Specification 5.4, Vol 3, Part G,
    /// 3.3.3.2).
    public static func userDescription(_ text: String) -> GATTDescriptor {
        GATTDescriptor(.characteristicUserDescription, value: Array(text.utf8))
    }

    /// Creates a Characteristic Presentation Format (3.3.3.5).
    public static func presentationFormat(_ format: CharacteristicPresentationFormat) -> GATTDescriptor {
        GATTDescriptor(.characteristicPresentationFormat, value: format.encoded)
    }
}

/// Services that are ready to be published.
extension GATTService {
    /// Creates a Battery Service (1.1) with a level, which `PeripheralManager.update(_:to:)` changes.
    ///
    /// ```swift
    /// try await manager.publish([.battery(80), .deviceInformation(information)])
    /// try await manager.update(.batteryLevel, to: 79)
    /// ```
    public static func battery(_ level: BatteryLevel) -> GATTService {
        GATTService(
            .batteryService,
            characteristics: [
                GATTCharacteristic(
                    .batteryLevel, properties: [.read, .notify], value: .stored(level.encoded),
                    length: .fixed(1))
            ])
    }

    /// Creates a Device Information Service (1.1) with the values in `information` that are not nil.
    public static func deviceInformation(_ information: DeviceInformation) -> GATTService {
        GATTService(
            .deviceInformationService,
            characteristics: information.values.map { characteristic, value in
                GATTCharacteristic(characteristic, properties: .read, value: .cached(value))
            })
    }

    /// Creates a Nordic UART Service, which carries octets in both directions. `received` is called with the
    /// octets that clients send, on the server's thread, and must not block. Octets for clients are values of
    /// `BluetoothUUID.nordicUARTTransmit`. `PeripheralManager.serveUART()` provides a stream in place of the
    /// closure.
    public static func nordicUART(
        received: (@Sendable (Central, [UInt8]) -> Void)? = nil
    ) -> GATTService {
        GATTService(
            .nordicUARTService,
            characteristics: [
                GATTCharacteristic(
                    .nordicUARTReceive, properties: [.write, .writeWithoutResponse],
                    onWrite: { request in
                        received?(request.central, request.value)
                        return .accept
                    }),
                GATTCharacteristic(.nordicUARTTransmit, properties: .notify),
            ])
    }
}

extension BluetoothUUID {
    /// The UUID of the Nordic UART Service.
    public static let nordicUARTService: BluetoothUUID = 0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e
    /// The characteristic that the device receives: clients write it.
    public static let nordicUARTReceive: BluetoothUUID = 0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e
    /// The characteristic that the device transmits: clients are notified of it.
    public static let nordicUARTTransmit: BluetoothUUID = 0x6e40_0003_b5a3_f393_e0a9_e50e_24dc_ca9e
}

extension CharacteristicKey<[UInt8]> {
    /// The octets that a device with a Nordic UART Service receives.
    public static let nordicUARTReceive = CharacteristicKey(.nordicUARTReceive, in: .nordicUARTService)
    /// The octets that a device with a Nordic UART Service transmits.
    public static let nordicUARTTransmit = CharacteristicKey(.nordicUARTTransmit, in: .nordicUARTService)
}

/// Builds lists of services, characteristics or descriptors from statements: those of `PeripheralManager.publish`, of a
/// `GATTService` and of a `GATTCharacteristic`.
///
/// ```swift
/// let service = GATTService(.batteryService) {
///     GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: .stored([100])) {
///         GATTDescriptor.userDescription("Main battery")
///     }
///     if hasName { GATTCharacteristic(0x2a00, properties: .read) }
/// }
/// ```
@resultBuilder public enum GATTBuilder<Element> {
    /// Adds one element to the list.
    public static func buildExpression(_ element: Element) -> [Element] { [element] }
    /// Adds several elements to the list.
    public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
    /// Joins the elements of the statements, in their order.
    public static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap(\.self) }
    /// Adds the elements of an `if` without `else`, or nothing.
    public static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
    /// Adds the elements of the first branch of an `if`.
    public static func buildEither(first part: [Element]) -> [Element] { part }
    /// Adds the elements of the second branch of an `if`.
    public static func buildEither(second part: [Element]) -> [Element] { part }
    /// Joins the elements of the iterations of a loop.
    public static func buildArray(_ parts: [[Element]]) -> [Element] { parts.flatMap(\.self) }
}

extension GATTService {
    /// Creates a service of the listed characteristics.
    public init(
        _ uuid: BluetoothUUID, isPrimary: Bool = true, includes: [GATTInclude] = [],
        @GATTBuilder<GATTCharacteristic> characteristics: () -> [GATTCharacteristic]
    ) {
        self.init(uuid, isPrimary: isPrimary, includes: includes, characteristics: characteristics())
    }
}

extension GATTCharacteristic {
    /// Creates a characteristic with the listed descriptors.
    public init(
        _ uuid: BluetoothUUID, properties: CharacteristicProperties,
        extendedProperties: ExtendedCharacteristicProperties = [], permissions: AttributePermissions? = nil,
        subscription: SecurityLevel? = nil, value: GATTValue = .stored([]),
        length: AttributeLength = .any, onRead: ReadHandler? = nil, onWrite: WriteHandler? = nil,
        @GATTBuilder<GATTDescriptor> descriptors: () -> [GATTDescriptor]
    ) {
        self.init(
            uuid, properties: properties, extendedProperties: extendedProperties, permissions: permissions,
            subscription: subscription, value: value, length: length, onRead: onRead, onWrite: onWrite,
            descriptors: descriptors())
    }
}
