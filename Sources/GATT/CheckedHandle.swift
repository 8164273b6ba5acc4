import BLECore
import GATTClient

/// A handle to use, and the state of the server's database that it belongs to.
package struct CheckedHandle: Hashable, Sendable {
    package let handle: AttributeHandle
    /// The state of the database; `.unknown` for a bare handle, for which its user is responsible.
    package let generation: DatabaseGeneration

    package init(_ handle: AttributeHandle, _ generation: DatabaseGeneration) {
        (self.handle, self.generation) = (handle, generation)
    }

    /// Creates the handle of a value that discovery found.
    package init(_ reference: some AttributeReference) {
        self.init(reference.valueHandle, reference.generation)
    }
}
