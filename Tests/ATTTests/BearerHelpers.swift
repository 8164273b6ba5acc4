import ATT
import BLECore
import TestSupport

extension ATTBearer {
    /// Takes the PDU that `hex` spells.
    mutating func receive(_ hex: String, at seconds: Int = 0) {
        let frame = [UInt8](hex: hex) ?? []
        receive(frame.span, at: .seconds(seconds))
    }

    /// All PDUs that wait, in hex.
    mutating func hexFrames(at seconds: Int = 0) -> [String] { frames(at: .seconds(seconds)).map(\.hex) }
}

extension ATTTransactionID: ExpressibleByIntegerLiteral, Comparable {
    /// The n-th transaction of a bearer.
    public init(integerLiteral value: UInt64) { self.init(rawValue: value) }

    /// Orders by number.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
