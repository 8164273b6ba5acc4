extension Adapter {
    /// What its managers can do now.
    public nonisolated var state: ManagerState { observedState.value }

    /// What its managers can do: now, and whenever that changes. Of a slow consumer's waiting states the oldest of 16
    /// are dropped and counted. When the adapter ends, the stream yields what it is then, and throws why.
    public nonisolated func states() -> BoundedStream<ManagerState> { observedState.watch(.newest(16)) }

    /// Returns when it is powered on: at once, or when a controller that has failed is back. Throws why it has ended.
    public nonisolated func untilPoweredOn() async throws(BLEError) {
        for try await state in states() where state == .poweredOn { return }
        throw .cancelled
    }
}

extension CentralManager {
    /// The state of the adapter, as of this call.
    public var state: ManagerState { adapter.state }
    /// What it can do: now, and whenever that changes, as `Adapter.states()` has it.
    public func states() -> BoundedStream<ManagerState> {
        let states = adapter.states()
        suspension.adopt(states.buffer)
        return states
    }
}

extension PeripheralManager {
    /// The state of the adapter, as of this call.
    public var state: ManagerState { adapter.state }
    /// What it can do: now, and whenever that changes, as `Adapter.states()` has it.
    public func states() -> BoundedStream<ManagerState> { adapter.states() }
}
