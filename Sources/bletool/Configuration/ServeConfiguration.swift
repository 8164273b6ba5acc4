import BLE
import BLECore

/// What CONFIG.yaml says: a GATT server and how it advertises itself. A value of this type can work, as
/// far as that can be known before a radio is touched.
struct ServeConfiguration: Hashable, Sendable {
    /// The device's name, 1 to 248 octets of UTF-8.
    var name: String?
    /// What is advertised, the name included.
    var advertising = AdvertiseSettings()
    /// What is advertised beside the server.
    var beacons: [AdvertiseSettings] = []
    var security = SecurityConfiguration()
    /// How links should keep time, which the GAP service says.
    var connection: ConnectionParameters?
    /// The greatest ATT_MTU that the server agrees to, 23 to 517.
    var mtu = 517
    /// How many prepared writes one central may queue.
    var prepareQueue = 64
    /// Whether the GAP and GATT services are added.
    var hasStandardServices = true
    /// The services, by their handles.
    var services: [ServiceConfiguration] = []
    /// What contradicts itself in the file, which `strict: false` lets run as it is written.
    var warnings: [ConfigurationError] = []
}

extension ServeConfiguration {
    /// The attributes that may be read or written on authenticated links only, by UUID and handle.
    var needingAuthentication: [String] {
        services.flatMap(\.characteristics).flatMap { characteristic in
            let value = (
                characteristic.uuid, characteristic.valueHandle, Optional(characteristic.permissions)
            )
            let descriptors = characteristic.descriptors.map { ($0.uuid, $0.handle, $0.permissions) }
            return ([value] + descriptors).compactMap { uuid, handle, permissions in
                permissions?.needsAuthentication == true ? "\(uuid) at \(handle)" : nil
            }
        }
    }
}

/// How centrals pair with the server.
struct SecurityConfiguration: Hashable, Sendable {
    /// What the device can show and what can be entered (Core Specification 5.4, Vol 3, Part H, 2.3.2).
    enum InputOutput: String, Hashable, Sendable, CaseIterable {
        /// Neither: pairing is by Just Works, which does not authenticate the peer.
        case none
        /// Can show a passkey.
        case display
        /// Can show one and be asked whether two are equal.
        case displayYesNo
        /// A passkey can be entered.
        case keyboard
        /// Can show a passkey, and one can be entered.
        case keyboardDisplay
    }

    /// What the device can show and what can be entered.
    var io = InputOutput.none
    /// Whether keys are kept.
    var isBonding = true
    /// Whether legacy pairing is refused.
    var isSecureConnectionsOnly = false
}

struct ServiceConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    /// Whether it is a primary one.
    var isPrimary = true
    /// The handle of its declaration.
    var handle: AttributeHandle
    var endHandle: AttributeHandle
    /// The services that it includes.
    var includes: [Include] = []
    /// What it consists of.
    var characteristics: [CharacteristicConfiguration] = []
    /// Whether nothing of it may contradict itself.
    var isStrict = true

    struct Include: Hashable, Sendable {
        /// The handle of the include declaration.
        var handle: AttributeHandle
        /// Where the included service is in the list of services.
        var service: Int
    }
}

struct CharacteristicConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    /// The handle of its declaration.
    var handle: AttributeHandle
    /// The handle of its value.
    var valueHandle: AttributeHandle
    /// What can be done with it.
    var properties: Set<CharacteristicProperty>
    /// Who may do so.
    var permissions: PermissionConfiguration
    /// The value and its length.
    var value: StoredValue
    /// Makes a fresh value for each read.
    var read: Program?
    /// Takes each written value on its standard input.
    var write: Program?
    /// Where the values come from that subscribers get.
    var notify: NotifyConfiguration?
    /// Its descriptors, also those that its properties need.
    var descriptors: [DescriptorConfiguration] = []
}

/// A descriptor of a characteristic.
struct DescriptorConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    var handle: AttributeHandle
    /// Who may read and write it; nil for what its kind implies.
    var permissions: PermissionConfiguration?
    /// The value and its length.
    var value: StoredValue
}

/// A value that the server keeps.
struct StoredValue: Hashable, Sendable {
    /// The value at the beginning.
    var octets: [UInt8] = []
    /// The most octets that it may have, up to 512 (Core Specification 5.4, Vol 3, Part F, 3.2.9).
    var maximum = Self.limit
    /// Whether it always has exactly that many.
    var isFixed = false

    /// The most octets that any value may have.
    static let limit = 512
}
