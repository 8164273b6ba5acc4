import BLECore

extension Peripheral {
    /// The identifier of a device, like `CBPeripheral.identifier`. It is derived from the device's address alone:
    /// it is the same in every process and on every host, and need not be stored.
    ///
    /// A device with a public or a static random address keeps its identifier, and so does a bonded device, whose
    /// identifier is that of its identity address. An unbonded device with private addresses has a new identifier
    /// whenever it changes its address; `isLasting` is then false.
    ///
    /// ```swift
    /// let known = Peripheral.Identifier("c0112233-4455-8001-8062-6c65746f6f6c")
    /// ```
    public struct Identifier: Hashable, Sendable {
        /// The address from which the identifier is derived, and at which the device can be reached while it uses
        /// it.
        public let address: DeviceAddress

        /// Creates the identifier of the device with this address. For a bonded peer that is its identity
        /// address; `CentralManager.identifier(of:)` resolves private addresses of bonded peers.
        public init(_ address: DeviceAddress) { self.address = address }

        /// How long the device keeps its address.
        public var kind: DeviceAddress.Kind { address.kind }

        /// Whether the device keeps this identifier: its address is public or random static.
        public var isLasting: Bool {
            switch kind {
            case .public, .static: true
            case .resolvable, .nonResolvable, .reserved: false
            }
        }
    }
}

/// The form as a UUID of version 8 (RFC 9562, 5.8): the address, its type, and a mark of these identifiers.
extension Peripheral.Identifier {
    /// The variant bits and "bletool", in the 64 bits that all identifiers have in common.
    private static let mark: UInt128 = 0x8062_6c65_746f_6f6c
    private static let version: UInt128 = 0x8

    /// The identifier as a UUID of version 8, which stays the same for an address.
    public var uuid: BluetoothUUID {
        BluetoothUUID(
            UInt128(address.value) << 80 | Self.version << 76 | UInt128(address.type.rawValue) << 64
                | Self.mark)
    }

    /// Creates the identifier with this UUID; nil when the UUID is of another form.
    public init?(_ uuid: BluetoothUUID) {
        let type = DeviceAddress.AddressType(rawValue: UInt8(truncatingIfNeeded: uuid.value >> 64))
        guard let type else { return nil }
        self.init(DeviceAddress(UInt64(truncatingIfNeeded: uuid.value >> 80), type: type))
        guard self.uuid == uuid else { return nil }
    }

    /// Parses the form of `description`, in either case; nil when the text is of another form.
    public init?(_ text: some StringProtocol) {
        guard let uuid = try? BluetoothUUID(text) else { return nil }
        self.init(uuid)
    }
}

extension Peripheral.Identifier: CustomStringConvertible {
    /// The UUID with dashes, in lower case.
    public var description: String { uuid.dashed }
}

extension Advertisement {
    /// The identifier of the sender, for a bonded one that of its identity address; nil for an anonymous
    /// sender.
    public var id: Peripheral.Identifier? { (identity ?? address).map { Peripheral.Identifier($0) } }
}
