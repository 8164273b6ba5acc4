import ATT
import BLECore
import TestSupport

extension ATTBearer {
    /// Receives the PDU `hex`.
    mutating func receive(_ hex: String, at seconds: Int = 0) {
        let frame = [UInt8](hex: hex) ?? []
        receive(frame.span, at: .seconds(seconds))
    }

    /// Returns all PDUs that wait to be sent, in hexadecimal.
    mutating func hexFrames(at seconds: Int = 0) -> [String] { frames(at: .seconds(seconds)).map(\.hex) }
}

extension ATTTransactionID: ExpressibleByIntegerLiteral, Comparable {
    /// Creates the identifier of the n-th transaction of a bearer.
    public init(integerLiteral value: UInt64) { self.init(rawValue: value) }

    /// Orders transactions by number.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
