import BLECore

/// The UUIDs that GATT itself uses (Core Specification 5.4, Vol 3, Part G, 3.3 to 3.7 and 7, and Part C, 12;
/// the numbers are in the SIG's Assigned Numbers).
extension BluetoothUUID {
    /// The declaration of a primary service (3.1).
    package static let primaryService: BluetoothUUID = 0x2800
    /// The declaration of a secondary service (3.1).
    package static let secondaryService: BluetoothUUID = 0x2801
    /// The declaration that includes another service (3.2).
    package static let include: BluetoothUUID = 0x2802
    /// The declaration of a characteristic (3.3.1).
    package static let characteristic: BluetoothUUID = 0x2803

    /// The descriptor that holds further properties (3.3.3.1).
    public static let characteristicExtendedProperties: BluetoothUUID = 0x2900
    /// The descriptor that holds a human-readable description (3.3.3.2).
    public static let characteristicUserDescription: BluetoothUUID = 0x2901
    /// The descriptor that a client writes to subscribe (3.3.3.3).
    public static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902
    /// The descriptor that clients write to enable broadcasts (3.3.3.4).
    public static let serverCharacteristicConfiguration: BluetoothUUID = 0x2903
    /// The descriptor that specifies the format of a value (3.3.3.5).
    public static let characteristicPresentationFormat: BluetoothUUID = 0x2904
    /// The descriptor that joins presentation formats (3.3.3.6).
    public static let characteristicAggregateFormat: BluetoothUUID = 0x2905

    /// The GAP service (Part C, 12).
    public static let genericAccess: BluetoothUUID = 0x1800
    /// The Generic Attribute Profile service (Part G, 7).
    public static let genericAttribute: BluetoothUUID = 0x1801

    /// The device's name (Part C, 12.1).
    public static let deviceName: BluetoothUUID = 0x2a00
    /// The appearance of the device, such as its category (Part C, 12.2).
    public static let appearance: BluetoothUUID = 0x2a01
    /// The connection parameters that a peripheral prefers (Part C, 12.3).
    public static let peripheralPreferredConnectionParameters: BluetoothUUID = 0x2a04
    /// Service Changed: the range of handles that changed (7.1).
    public static let serviceChanged: BluetoothUUID = 0x2a05
    /// Whether the central resolves private addresses (Part C, 12.4).
    public static let centralAddressResolution: BluetoothUUID = 0x2aa6
    /// The features that the client supports (7.2).
    public static let clientSupportedFeatures: BluetoothUUID = 0x2b29
    /// A hash of the database's structure (7.3).
    public static let databaseHash: BluetoothUUID = 0x2b2a
    /// The features that the server supports (7.4).
    public static let serverSupportedFeatures: BluetoothUUID = 0x2b3a
}
