import BLECore

/// The number of a command: a group in the upper 6 bits, a command of it in the lower 10 (Core
/// Specification 5.4, Vol 4, Part E, 5.4.1).
public struct HCIOpcode: HCICode {
    /// The group (OGF, 6 bits) and the command in it (OCF, 10 bits).
    public let rawValue: UInt16

    /// The opcode of that number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The opcode of command `ocf` (10 bits) in group `ogf` (6 bits); bits beyond are cut off.
    package init(ogf: UInt8, ocf: UInt16) {
        rawValue = UInt16(ogf & 0x3f) << 10 | ocf & 0x03ff
    }

    /// The group (opcode group field); 0x08 is Low Energy, 0x3f is the vendor's.
    package var ogf: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 10) }

    /// The command within the group (opcode command field).
    package var ocf: UInt16 { rawValue & 0x03ff }

    /// Names no command: a controller uses it to grant command credits (4.4).
    package static let none = HCIOpcode(rawValue: 0x0000)
}

extension HCIOpcode: CustomStringConvertible {
    /// The specification's name, "LE Set Scan Enable", or the number, "0xfc01".
    public var description: String { Self.names[rawValue] ?? "0x" + rawValue.hex }
}
