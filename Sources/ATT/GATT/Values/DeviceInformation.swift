import BLECore

/// The values of a Device Information Service (Device Information Service 1.1, 3); nil for values that the
/// service does not have.
public struct DeviceInformation: Hashable, Sendable {
    /// The manufacturer's name (Manufacturer Name String, 2a29).
    public var manufacturer: String?
    /// The model number (Model Number String, 2a24).
    public var model: String?
    /// The device's serial number (Serial Number String, 2a25).
    public var serialNumber: String?
    /// The hardware revision (Hardware Revision String, 2a27).
    public var hardware: String?
    /// The firmware revision (Firmware Revision String, 2a26).
    public var firmware: String?
    /// The software revision (Software Revision String, 2a28).
    public var software: String?
    /// The System ID (2a23): numbers of the manufacturer and of the device.
    public var system: SystemID?
    /// The PnP ID (2a50): numbers of the vendor and of the product.
    public var plugAndPlay: PlugAndPlayID?

    /// Creates the information of a device; values that are left out are nil.
    public init(
        manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil,
        hardware: String? = nil, firmware: String? = nil, software: String? = nil, system: SystemID? = nil,
        plugAndPlay: PlugAndPlayID? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.serialNumber = serialNumber
        self.hardware = hardware
        self.firmware = firmware
        self.software = software
        self.system = system
        self.plugAndPlay = plugAndPlay
    }

    /// The values that are not nil, each with its characteristic.
    package var values: [(characteristic: BluetoothUUID, value: [UInt8])] {
        let texts: [(BluetoothUUID, String?)] = [
            (.manufacturerName, manufacturer), (.modelNumber, model), (.serialNumber, serialNumber),
            (.hardwareRevision, hardware), (.firmwareRevision, firmware), (.softwareRevision, software),
        ]
        let numbers: [(BluetoothUUID, [UInt8]?)] = [
            (.systemID, system?.encoded), (.plugAndPlayID, plugAndPlay?.encoded),
        ]
        return (texts.map { ($0, $1.map { Array($0.utf8) }) } + numbers).compactMap { uuid, value in
            value.map { (uuid, $0) }
        }
    }

    /// Stores the value of one of the service's characteristics. Returns false when the characteristic is
    /// unknown.
    package mutating func take(
        _ characteristic: BluetoothUUID, _ value: [UInt8]
    ) throws(DecodeError) -> Bool {
        let text = CharacteristicKey<String>(characteristic)
        switch characteristic {
        case .manufacturerName: manufacturer = try text.decode(value)
        case .modelNumber: model = try text.decode(value)
        case .serialNumber: serialNumber = try text.decode(value)
        case .hardwareRevision: hardware = try text.decode(value)
        case .firmwareRevision: firmware = try text.decode(value)
        case .softwareRevision: software = try text.decode(value)
        case .systemID: system = try SystemID(value)
        case .plugAndPlayID: plugAndPlay = try PlugAndPlayID(value)
        default: return false
        }
        return true
    }
}

/// The System ID: an identifier that the manufacturer has defined, and the manufacturer's OUI (Device Information
/// Service 1.1, 3.8).
public struct SystemID: Hashable, PacketCodable {
    /// The identifier that the manufacturer has defined, 40 bits.
    public var manufacturer: UInt64
    /// The manufacturer's Organizationally Unique Identifier, 24 bits.
    public var organization: UInt32

    /// Creates a System ID; nil when a part has too many bits.
    public init?(manufacturer: UInt64, organization: UInt32) {
        guard manufacturer >> 40 == 0, organization >> 24 == 0 else { return nil }
        self.manufacturer = manufacturer
        self.organization = organization
    }

    package static let packetName = "System ID"

    /// Reads 64 bits: `manufacturer` in the low 40, `organization` in the high 24.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let value = try reader.u64("system ID")
        manufacturer = value & 0xff_ffff_ffff
        organization = UInt32(value >> 40)
    }

    package var encodedCount: Int { 8 }

    /// Writes 64 bits: `manufacturer` in the low 40, `organization` in the high 24.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u64(UInt64(organization) << 40 | manufacturer & 0xff_ffff_ffff)
    }
}

/// The PnP ID: vendor, product and version (Device Information Service 1.1, 3.9).
public struct PlugAndPlayID: Hashable, PacketCodable {
    /// The organization that assigned the vendor's number: 1 the Bluetooth SIG, 2 the USB Implementer's Forum.
    public var vendorSource: UInt8
    /// The vendor's number, in the register that `vendorSource` names.
    public var vendor: UInt16
    /// The product's number, assigned by the vendor.
    public var product: UInt16
    /// The version of the product in BCD: 0x0123 is 1.2.3.
    public var version: UInt16

    /// Creates the identification of a vendor's product.
    public init(vendorSource: UInt8, vendor: UInt16, product: UInt16, version: UInt16) {
        self.vendorSource = vendorSource
        self.vendor = vendor
        self.product = product
        self.version = version
    }

    package static let packetName = "PnP ID"

    /// Reads the fields in order, seven octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        vendorSource = try reader.u8("vendor ID source")
        vendor = try reader.u16("vendor ID")
        product = try reader.u16("product ID")
        version = try reader.u16("version")
    }

    package var encodedCount: Int { 7 }

    /// Writes the fields in order, seven octets.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(vendorSource)
        for value in [vendor, product, version] { output.u16(value) }
    }
}

extension BluetoothUUID {
    /// The Device Information Service of the SIG's assigned numbers, 0x180a.
    public static let deviceInformationService: BluetoothUUID = 0x180a
    /// The characteristic System ID, 0x2a23.
    public static let systemID: BluetoothUUID = 0x2a23
    /// The characteristic Model Number String, 0x2a24.
    public static let modelNumber: BluetoothUUID = 0x2a24
    /// The characteristic Serial Number String, 0x2a25.
    public static let serialNumber: BluetoothUUID = 0x2a25
    /// The revision of a device's firmware.
    public static let firmwareRevision: BluetoothUUID = 0x2a26
    /// The revision of a device's hardware.
    public static let hardwareRevision: BluetoothUUID = 0x2a27
    /// The revision of a device's software.
    public static let softwareRevision: BluetoothUUID = 0x2a28
    /// The characteristic Manufacturer Name String, 0x2a29.
    public static let manufacturerName: BluetoothUUID = 0x2a29
    /// The characteristic PnP ID, 0x2a50.
    public static let plugAndPlayID: BluetoothUUID = 0x2a50
}
