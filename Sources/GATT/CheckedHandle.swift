import ATT
import BLECore
import GATTClient

/// A handle to use, or the handles of a service, and the state of the server's database that they belong to.
package struct CheckedHandle: Hashable, Sendable {
    package let range: AttributeRange
    /// The state of the database; `.unknown` for a bare handle, for which its user is responsible.
    package let generation: DatabaseGeneration

    /// The first of the handles.
    package var handle: AttributeHandle { range.start }

    package init(_ handle: AttributeHandle, _ generation: DatabaseGeneration) {
        self.init(AttributeRange(handle, handle), generation)
    }

    /// Creates the handles of which none may have changed.
    package init(_ range: AttributeRange, _ generation: DatabaseGeneration) {
        (self.range, self.generation) = (range, generation)
    }

    /// Creates the handle of a value that discovery found.
    package init(_ reference: some AttributeReference) {
        self.init(reference.valueHandle, reference.generation)
    }
}
