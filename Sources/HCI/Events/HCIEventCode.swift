import BLECore

/// The kind of an event (Core Specification 5.4, Vol 4, Part E, 7.7).
package struct HCIEventCode: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension HCIEventCode {
    /// The event code of Disconnection Complete, 7.7.5.
    package static let disconnectionComplete = HCIEventCode(rawValue: 0x05)
    /// Encryption Change [v1], 7.7.8.
    package static let encryptionChange = HCIEventCode(rawValue: 0x08)
    /// Read Remote Version Information Complete, 7.7.12.
    package static let readRemoteVersionInformationComplete = HCIEventCode(rawValue: 0x0c)
    /// The event code of Command Complete, 7.7.14.
    package static let commandComplete = HCIEventCode(rawValue: 0x0e)
    /// The event code of Command Status, 7.7.15.
    package static let commandStatus = HCIEventCode(rawValue: 0x0f)
    /// The event code of Hardware Error, 7.7.16.
    package static let hardwareError = HCIEventCode(rawValue: 0x10)
    /// Number Of Completed Packets, 7.7.19.
    package static let numberOfCompletedPackets = HCIEventCode(rawValue: 0x13)
    /// Data Buffer Overflow, 7.7.26.
    package static let dataBufferOverflow = HCIEventCode(rawValue: 0x1a)
    /// Encryption Key Refresh Complete, 7.7.39.
    package static let encryptionKeyRefreshComplete = HCIEventCode(rawValue: 0x30)
    /// The event code of LE Meta, 7.7.65.
    package static let leMeta = HCIEventCode(rawValue: 0x3e)
    /// Authenticated Payload Timeout Expired, 7.7.75.
    package static let authenticatedPayloadTimeoutExpired = HCIEventCode(rawValue: 0x57)
    /// Encryption Change [v2], 7.7.8.
    package static let encryptionChangeV2 = HCIEventCode(rawValue: 0x59)
    /// The event code that is reserved for vendors, 5.4.4.
    package static let vendor = HCIEventCode(rawValue: 0xff)
}

extension HCIEventCode: CustomStringConvertible {
    /// The name in the specification, "Command Complete", or the code, "0x60".
    package var description: String {
        Self.names[self] ?? Self.namesOfOthers[rawValue] ?? "0x" + rawValue.hex
    }

    private static let names: [HCIEventCode: String] = [
        .disconnectionComplete: "Disconnection Complete",
        .encryptionChange: "Encryption Change [v1]",
        .readRemoteVersionInformationComplete: "Read Remote Version Information Complete",
        .commandComplete: "Command Complete",
        .commandStatus: "Command Status",
        .hardwareError: "Hardware Error",
        .numberOfCompletedPackets: "Number Of Completed Packets",
        .dataBufferOverflow: "Data Buffer Overflow",
        .encryptionKeyRefreshComplete: "Encryption Key Refresh Complete",
        .leMeta: "LE Meta",
        .authenticatedPayloadTimeoutExpired: "Authenticated Payload Timeout Expired",
        .encryptionChangeV2: "Encryption Change [v2]",
        .vendor: "Vendor",
    ]

    /// The names of the events without a constant, because Low Energy does not use them.
    private static let namesOfOthers: [UInt8: String] = [
        0x01: "Inquiry Complete",
        0x02: "Inquiry Result",
        0x03: "Connection Complete",
        0x04: "Connection Request",
        0x06: "Authentication Complete",
        0x07: "Remote Name Request Complete",
        0x09: "Change Connection Link Key Complete",
        0x0a: "Link Key Type Changed",
        0x0b: "Read Remote Supported Features Complete",
        0x0d: "QoS Setup Complete",
        0x11: "Flush Occurred",
        0x12: "Role Change",
        0x14: "Mode Change",
        0x15: "Return Link Keys",
        0x16: "PIN Code Request",
        0x17: "Link Key Request",
        0x18: "Link Key Notification",
        0x19: "Loopback Command",
        0x1b: "Max Slots Change",
        0x1c: "Read Clock Offset Complete",
        0x1d: "Connection Packet Type Changed",
        0x1e: "QoS Violation",
        0x20: "Page Scan Repetition Mode Change",
        0x21: "Flow Specification Complete",
        0x22: "Inquiry Result with RSSI",
        0x23: "Read Remote Extended Features Complete",
        0x2c: "Synchronous Connection Complete",
        0x2d: "Synchronous Connection Changed",
        0x2e: "Sniff Subrating",
        0x2f: "Extended Inquiry Result",
        0x31: "IO Capability Request",
        0x32: "IO Capability Response",
        0x33: "User Confirmation Request",
        0x34: "User Passkey Request",
        0x35: "Remote OOB Data Request",
        0x36: "Simple Pairing Complete",
        0x38: "Link Supervision Timeout Changed",
        0x39: "Enhanced Flush Complete",
        0x3b: "User Passkey Notification",
        0x3c: "Keypress Notification",
        0x3d: "Remote Host Supported Features Notification",
        0x48: "Number Of Completed Data Blocks",
        0x4e: "Triggered Clock Capture",
        0x4f: "Synchronization Train Complete",
        0x50: "Synchronization Train Received",
        0x51: "Connectionless Peripheral Broadcast Receive",
        0x52: "Connectionless Peripheral Broadcast Timeout",
        0x53: "Truncated Page Complete",
        0x54: "Peripheral Page Response Timeout",
        0x55: "Connectionless Peripheral Broadcast Channel Map Change",
        0x56: "Inquiry Response Notification",
        0x58: "SAM Status Change",
    ]
}
