import BLECore

/// An octet that should be 0 or 1. Others are kept; a controller refuses them.
package struct HCIFlag: HCICode, ExpressibleByBooleanLiteral {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// 1 for true, 0 for false.
    package init(_ value: Bool) { rawValue = value ? 1 : 0 }

    /// 1 for true, 0 for false.
    package init(booleanLiteral value: Bool) { self.init(value) }

    /// True for 1, false for 0, nil for what is neither.
    package var value: Bool? {
        switch rawValue {
        case 0: false
        case 1: true
        default: nil
        }
    }
}

extension HCIFlag: CustomStringConvertible {
    /// "false", "true" or the octet, "0x02".
    package var description: String { value.map { "\($0)" } ?? "0x" + rawValue.hex }
}
