import BLECore

extension AdvertisingDataType: CustomStringConvertible {
    /// The name in Assigned Numbers, 2.3, when the type is assigned.
    package var name: String? { Self.names[rawValue] }

    /// The name, or `0x99`.
    public var description: String { name ?? "0x" + rawValue.hex }

    /// Every type that Assigned Numbers lists, in the order of the numbers.
    package static var assigned: [AdvertisingDataType] { names.keys.sorted().map { Self($0) } }

    private static let names: [UInt8: String] = [
        0x01: "Flags",
        0x02: "Incomplete List of 16-bit Service Class UUIDs",
        0x03: "Complete List of 16-bit Service Class UUIDs",
        0x04: "Incomplete List of 32-bit Service Class UUIDs",
        0x05: "Complete List of 32-bit Service Class UUIDs",
        0x06: "Incomplete List of 128-bit Service Class UUIDs",
        0x07: "Complete List of 128-bit Service Class UUIDs",
        0x08: "Shortened Local Name",
        0x09: "Complete Local Name",
        0x0a: "Tx Power Level",
        0x0d: "Class of Device",
        0x0e: "Simple Pairing Hash C-192",
        0x0f: "Simple Pairing Randomizer R-192",
        0x10: "Security Manager TK Value",
        0x11: "Security Manager Out of Band Flags",
        0x12: "Peripheral Connection Interval Range",
        0x14: "List of 16-bit Service Solicitation UUIDs",
        0x15: "List of 128-bit Service Solicitation UUIDs",
        0x16: "Service Data - 16-bit UUID",
        0x17: "Public Target Address",
        0x18: "Random Target Address",
        0x19: "Appearance",
        0x1a: "Advertising Interval",
        0x1b: "LE Bluetooth Device Address",
        0x1c: "LE Role",
        0x1d: "Simple Pairing Hash C-256",
        0x1e: "Simple Pairing Randomizer R-256",
        0x1f: "List of 32-bit Service Solicitation UUIDs",
        0x20: "Service Data - 32-bit UUID",
        0x21: "Service Data - 128-bit UUID",
        0x22: "LE Secure Connections Confirmation Value",
        0x23: "LE Secure Connections Random Value",
        0x24: "URI",
        0x25: "Indoor Positioning",
        0x26: "Transport Discovery Data",
        0x27: "LE Supported Features",
        0x28: "Channel Map Update Indication",
        0x29: "PB-ADV",
        0x2a: "Mesh Message",
        0x2b: "Mesh Beacon",
        0x2c: "BIGInfo",
        0x2d: "Broadcast_Code",
        0x2e: "Resolvable Set Identifier",
        0x2f: "Advertising Interval - long",
        0x30: "Broadcast_Name",
        0x31: "Encrypted Advertising Data",
        0x32: "Periodic Advertising Response Timing Information",
        0x34: "Electronic Shelf Label",
        0x3d: "3D Information Data",
        0xff: "Manufacturer Specific Data",
    ]
}
