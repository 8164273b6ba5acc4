import ATT
import BLECore

/// A value in parts of one size, of which the last one has the rest. How the receiver joins them is agreed
/// between both applications; `ValueReassembler` supports the usual rules.
///
/// Credits limit the number of parts that can be sent before the receiver grants more:
///
/// ```swift
/// var chunks = ValueChunks(firmware, size: 20, credits: 4)
/// while let part = chunks.next() { send(part) }  // 4 parts
/// chunks.grant(2)
/// ```
package struct ValueChunks: Sendable {
    /// The size of every part but the last in octets, 1 or more.
    package let size: Int
    /// The length of all parts together, in octets.
    package var total: Int { value.count }
    /// The number of octets that `next` has returned.
    package private(set) var sent = 0
    /// The number of parts that can be sent now; nil if there is no limit.
    package private(set) var credits: Int?

    private let value: [UInt8]

    /// Creates parts of `size` octets from `value`, of which `credits` can be sent before `grant`; nil for
    /// all. A `size` less than 1 becomes 1.
    package init(_ value: [UInt8], size: Int, credits: Int? = nil) {
        self.value = value
        self.size = max(1, size)
        self.credits = credits.map { max(0, $0) }
    }

    /// Creates parts that fit one packet at this MTU: 20 octets at 23, 244 at 247.
    package init(_ value: [UInt8], mtu: ATTMTU, credits: Int? = nil) {
        self.init(value, size: mtu.writeValue, credits: credits)
    }

    /// Whether `next` has returned every part.
    package var isDone: Bool { sent == value.count }

    /// Whether there are more parts but no credit for the next one.
    package var isStalled: Bool { !isDone && credits == 0 }

    /// Returns the next part; nil when there is none left, or no credit for it before `grant`.
    package mutating func next() -> ArraySlice<UInt8>? {
        guard !isDone, credits != 0 else { return nil }
        credits = credits.map { $0 - 1 }
        let part = value[sent...].prefix(size)
        sent = part.endIndex
        return part
    }

    /// Adds `count` credits; the sum saturates. Does nothing without a limit.
    package mutating func grant(_ count: Int) {
        credits = credits.map { $0.addingReportingOverflow(max(0, count)) }.map { $1 ? .max : $0 }
    }
}
