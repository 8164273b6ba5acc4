import ATT
import BLECore

/// The value of Service Changed: the range of handles in which attributes were added, removed or changed
/// (Core Specification 5.4, Vol 3, Part G, 7.1).
public struct ServiceChange: Hashable, Sendable {
    /// The handles whose attributes have changed.
    public var range: AttributeRange

    /// Creates a change among these handles.
    package init(_ range: AttributeRange) { self.range = range }

    /// Decodes an indicated value. A value that is not two handles in order still reports that something
    /// changed, so it stands for all handles.
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
