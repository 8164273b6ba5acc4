import BLECore

/// An octet that should be 0 or 1. Other values are kept, and a controller rejects them.
package struct HCIFlag: HCICode, ExpressibleByBooleanLiteral {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates 1 for true and 0 for false.
    package init(_ value: Bool) { rawValue = value ? 1 : 0 }

    /// Creates 1 for true and 0 for false.
    package init(booleanLiteral value: Bool) { self.init(value) }

    /// True for 1, false for 0, nil for any other value.
    package var value: Bool? {
        switch rawValue {
        case 0: false
        case 1: true
        default: nil
        }
    }
}

extension HCIFlag: CustomStringConvertible {
    /// "false", "true", or the octet as "0x02".
    package var description: String { value.map { "\($0)" } ?? "0x" + rawValue.hex }
}
