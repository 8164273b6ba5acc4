import ATT
import BLECore

/// The value of Service Changed: the handles among which something was added, removed or changed (Core
/// Specification 5.4, Vol 3, Part G, 7.1).
public struct ServiceChange: Hashable, Sendable {
    /// The handles whose attributes have changed.
    public var range: AttributeRange

    /// Something among these handles has changed.
    package init(_ range: AttributeRange) { self.range = range }

    /// Reads an indicated value. What is not two handles in order says at least that something changed, so
    /// it stands for all.
    package init(_ value: [UInt8]) {
        guard value.count == 4 else {
            range = .all
            return
        }
        let words = stride(from: 0, to: 4, by: 2).map { UInt16(value[$0]) | UInt16(value[$0 + 1]) << 8 }
        let given = AttributeRange(AttributeHandle(words[0]), AttributeHandle(words[1]))
        range = given.isValid ? given : .all
    }
}
