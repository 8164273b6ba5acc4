import ATT
import BLE
import BLECore
import GATTServer

/// Converts services of a configuration to those of the library. `handlers` returns what answers reads and
/// receives writes.
extension GATTService {
    init(
        _ service: ServiceConfiguration, among all: [ServiceConfiguration],
        _ handlers: (CharacteristicConfiguration) -> (onRead: ReadHandler?, onWrite: WriteHandler?)
    ) {
        self.init(
            service.uuid, isPrimary: service.isPrimary, handle: service.handle, endHandle: service.endHandle,
            includes: service.includes.map { .handle(all[$0.service].handle) },
            characteristics: service.characteristics.map { characteristic in
                let (onRead, onWrite) = handlers(characteristic)
                var made = GATTCharacteristic(
                    characteristic.uuid, properties: CharacteristicProperties(characteristic.properties),
                    extendedProperties: characteristic.extendedProperties,
                    permissions: AttributePermissions(characteristic.permissions),
                    subscription: characteristic.permissions.subscription(for: characteristic.properties),
                    value: .stored(characteristic.value.octets),
                    length: AttributeLength(characteristic.value),
                    onRead: onRead, onWrite: onWrite,
                    descriptors: characteristic.descriptors.map { GATTDescriptor($0) },
                    handle: characteristic.handle, valueHandle: characteristic.valueHandle)
                made.hasLongUUID = characteristic.hasLongUUID
                return made
            })
        hasLongUUID = service.hasLongUUID
        allowsContradictions = !service.isStrict
    }
}

extension ServeConfiguration {
    /// The GAP and GATT services, or nil if they are not added.
    var generic: GenericServices? {
        guard hasStandardServices else { return nil }
        return GenericServices(
            deviceName: name ?? "bletool",
            appearance: (advertising.content.appearance ?? advertising.deviceAppearance)?.rawValue ?? 0,
            preferredConnection: connection)
    }
}

extension ServerOptions {
    /// Creates the options of the server as a whole from a configuration.
    init(_ configuration: ServeConfiguration) {
        self.init()
        mtu = ATTMTU(UInt16(clamping: configuration.mtu))
        prepareQueueLimit = configuration.prepareQueue
    }
}

extension CharacteristicConfiguration {
    /// The value of the Extended Properties descriptor.
    fileprivate var extendedProperties: ExtendedCharacteristicProperties {
        guard properties.contains(.extended) else { return [] }
        let descriptor = descriptors.first { $0.uuid == .characteristicExtendedProperties }
        return ExtendedCharacteristicProperties(
            rawValue: UInt16(littleEndian: descriptor?.value.octets ?? []))
    }
}

extension GATTDescriptor {
    fileprivate init(_ descriptor: DescriptorConfiguration) {
        self.init(
            descriptor.uuid, permissions: descriptor.permissions.map { AttributePermissions($0) },
            value: descriptor.value.octets, length: AttributeLength(descriptor.value),
            handle: descriptor.handle)
        hasLongUUID = descriptor.hasLongUUID
    }
}

extension CharacteristicProperties {
    fileprivate init(_ properties: Set<CharacteristicProperty>) {
        self = []
        for property in properties {
            switch property {
            case .broadcast: insert(.broadcast)
            case .read: insert(.read)
            case .writeWithoutResponse: insert(.writeWithoutResponse)
            case .write: insert(.write)
            case .notify, .notifyEncryptionRequired: insert(.notify)
            case .indicate, .indicateEncryptionRequired: insert(.indicate)
            case .signedWrite: insert(.authenticatedSignedWrites)
            case .extended: insert(.extendedProperties)
            }
        }
    }
}

extension AttributePermissions {
    fileprivate init(_ permissions: PermissionConfiguration) {
        self.init(
            read: permissions.read, write: permissions.write, minimumKeySize: permissions.keySize)
    }
}

extension AttributeLength {
    fileprivate init(_ value: StoredValue) {
        self = value.isFixed ? .fixed(value.maximum) : .variable(max: value.maximum)
    }
}
