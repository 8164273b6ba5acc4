import ATT
import BLECore

/// A value in parts of one size, of which the last one has the rest. How the receiver joins them is an agreement
/// of both applications; `ValueReassembler` has the usual ones.
///
/// Credits say how many parts may go before the receiver grants more:
///
/// ```swift
/// var chunks = ValueChunks(firmware, size: 20, credits: 4)
/// while let part = chunks.next() { send(part) }  // 4 parts
/// chunks.grant(2)
/// ```
package struct ValueChunks: Sendable {
    /// Octets of every part but the last, 1 or more.
    package let size: Int
    /// The length of all parts together, in octets.
    package var total: Int { value.count }
    /// Octets that have been handed out.
    package private(set) var sent = 0
    /// Parts that may go now; nil without limit.
    package private(set) var credits: Int?

    private let value: [UInt8]

    /// `value` in parts of `size` octets, of which `credits` may go before `grant`; nil: all. A `size` less
    /// than 1 is 1.
    package init(_ value: [UInt8], size: Int, credits: Int? = nil) {
        self.value = value
        self.size = max(1, size)
        self.credits = credits.map { max(0, $0) }
    }

    /// What fits one packet at this MTU: 20 octets at 23, 244 at 247.
    package init(_ value: [UInt8], mtu: ATTMTU, credits: Int? = nil) {
        self.init(value, size: mtu.writeValue, credits: credits)
    }

    /// Whether every part has been handed out.
    package var isDone: Bool { sent == value.count }

    /// Whether there are parts, and no credit for the next one.
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
