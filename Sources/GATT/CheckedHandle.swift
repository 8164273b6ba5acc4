import BLECore
import GATTClient

/// A handle that is to be used, and the state of the server's database that it is of.
package struct CheckedHandle: Hashable, Sendable {
    package let handle: AttributeHandle
    /// The state; `.unknown` for a bare handle, which is its user's responsibility.
    package let generation: DatabaseGeneration

    package init(_ handle: AttributeHandle, _ generation: DatabaseGeneration) {
        (self.handle, self.generation) = (handle, generation)
    }

    /// The handle of a value that discovery found.
    package init(_ reference: some AttributeReference) {
        self.init(reference.valueHandle, reference.generation)
    }
}
