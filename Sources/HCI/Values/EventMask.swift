/// The events that a controller can send: a bit for each code from `firstCode` on.
package protocol EventMask: HCICode, ExpressibleByArrayLiteral where RawValue == UInt64 {
    /// The codes that the bits stand for.
    associatedtype Code: HCICode where Code.RawValue == UInt8
    /// The event code that bit 0 stands for.
    static var firstCode: UInt8 { get }
}

extension EventMask {
    /// Creates the mask of the given events. Codes without a bit are ignored; the events that answer commands
    /// have none and are always sent.
    package init(_ codes: [Code]) {
        self.init(rawValue: codes.reduce(0) { $0 | Self.bit(of: $1) })
    }

    /// Creates the mask that enables `codes`.
    package init(arrayLiteral codes: Code...) { self.init(codes) }

    /// Returns whether the mask enables the event.
    package func contains(_ code: Code) -> Bool { rawValue & Self.bit(of: code) != 0 }

    private static func bit(of code: Code) -> UInt64 {
        code.rawValue < firstCode ? 0 : 1 << UInt64(code.rawValue - firstCode)
    }
}

/// The mask of Set Event Mask (Core Specification 5.4, Vol 4, Part E, 7.3.1).
package struct HCIEventMask: EventMask {
    /// The code of Inquiry Complete.
    package static let firstCode: UInt8 = 0x01
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The mask after a reset, in which, for example, LE Meta is disabled.
    package static let `default` = HCIEventMask(rawValue: 0x0000_1fff_ffff_ffff)

    /// The event codes that the bits stand for.
    package typealias Code = HCIEventCode
}

/// The mask of Set Event Mask Page 2 (Core Specification 5.4, Vol 4, Part E, 7.3.69).
package struct HCIEventMaskPage2: EventMask {
    /// The code of the former Physical Link Complete, which is bit 0.
    package static let firstCode: UInt8 = 0x40
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The event codes that the bits stand for.
    package typealias Code = HCIEventCode
}

/// The mask of LE Set Event Mask (Core Specification 5.4, Vol 4, Part E, 7.8.1).
package struct LEEventMask: EventMask {
    /// The code of LE Connection Complete, which is bit 0.
    package static let firstCode: UInt8 = 0x01
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The mask after a reset: the five events of Core Specification 4.0.
    package static let `default` = LEEventMask(rawValue: 0x1f)

    /// The event codes that the bits stand for.
    package typealias Code = LESubevent
}
