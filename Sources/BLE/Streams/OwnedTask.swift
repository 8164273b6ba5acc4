/// A task that ends with whoever holds this.
final class OwnedTask: Sendable {
    private let task: Task<Void, Never>

    /// Owns `task`.
    init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }
}
