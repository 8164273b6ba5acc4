import BLECore
import HCI

/// Packets of vendors that are not part of HCI, and commands of Android.
enum VendorPackets {
    /// The packet type with which Broadcom's controllers send diagnostics (Linux, drivers/bluetooth/btbcm.h).
    static let diagnostics = HCIPacketType(rawValue: 0x07)
    /// The connection on which Qualcomm's controllers send their log as data, if no connection has this handle
    /// (Linux, drivers/bluetooth/hci_qca.c).
    static let log = ConnectionHandle(0x0edc)

    /// The commands of Android ("HCI requirements", source.android.com).
    static let androidCommands: [UInt16: String] = [
        0xfd53: "Android LE Get Vendor Capabilities", 0xfd54: "Android LE Multi Advertising",
        0xfd56: "Android LE Batch Scan", 0xfd57: "Android LE Advertising Packet Content Filter",
        0xfd59: "Android Get Controller Activity and Energy Info",
        0xfd5a: "Android LE Extended Set Scan Parameters", 0xfd5b: "Android Get Controller Debug Info",
        0xfd5d: "Android A2DP Hardware Offload", 0xfd5e: "Android Bluetooth Quality Report",
        0xfd5f: "Android Dynamic Audio Buffer",
    ]

    /// Returns the name of a command, also of one of Android.
    static func name(of opcode: HCIOpcode) -> String {
        androidCommands[opcode.rawValue] ?? opcode.description
    }
}

extension DecodedLayer {
    /// Creates the layer of a vendor's packet, whose octets only the vendor knows.
    static func vendor(_ name: String, _ bytes: [UInt8], _ data: [UInt8]) -> DecodedLayer {
        DecodedLayer(.hci, name: name, bytes: bytes, .data(data))
    }
}
