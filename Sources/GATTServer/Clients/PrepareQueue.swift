import ATT
import BLECore

/// A part of a value that waits for Execute Write.
struct PreparedWrite: Hashable, Sendable {
    let handle: AttributeHandle
    let offset: Int
    let value: [UInt8]
}

/// The prepared writes of one link, in order (Core Specification 5.4, Vol 3, Part F, 3.4.6).
struct PrepareQueue: Hashable, Sendable {
    private(set) var parts: [PreparedWrite] = []
    /// The attribute of the first part whose attribute was removed meanwhile, which makes the parts invalid.
    private(set) var broken: AttributeHandle?

    /// Queues a part; returns false when the queue is full.
    mutating func append(_ part: PreparedWrite, limit: Int) -> Bool {
        guard parts.count < limit else { return false }
        parts.append(part)
        return true
    }

    mutating func removeAll() { self = PrepareQueue() }

    /// Marks the queue as broken if it has parts for these handles, whose attributes were removed.
    mutating func breakParts(in range: AttributeRange) {
        broken = broken ?? parts.first { range.contains($0.handle) }?.handle
    }

    /// The handles of the attributes, in the order of their first parts.
    var handles: [AttributeHandle] {
        parts.reduce(into: []) { handles, part in
            if !handles.contains(part.handle) { handles.append(part.handle) }
        }
    }
}
