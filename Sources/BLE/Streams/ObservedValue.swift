import HCISocket

/// A value that can be read, and watched for changes.
final class ObservedValue<Value: Hashable & Sendable>: Sendable {
    private struct State {
        var value: Value
        var end: BLEError?
        var watchers = Watchers<Value>()
    }

    private let state: Lock<State>

    init(_ value: Value) { state = Lock(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    /// Sets the value, and reports it if it is different from the present one. With `end` it is the last
    /// value.
    func set(_ value: Value, end: BLEError? = nil) {
        let (watchers, isNews) = state.withLock { state -> ([StreamBuffer<Value>], Bool) in
            guard state.end == nil else { return ([], false) }
            let isNews = state.value != value
            (state.value, state.end) = (value, end)
            return (state.watchers.buffers, isNews)
        }
        // Outside of the lock, because a stream that ends acquires it.
        for watcher in watchers {
            if isNews { watcher.yield(value) }
            if let end { watcher.finish(.failure(end)) }
        }
    }

    /// Returns a stream of the present value, and of each different value from now on.
    func watch(_ policy: BufferPolicy) -> BoundedStream<Value> {
        let buffer = StreamBuffer<Value>(policy, merge: { _ in AnyHashable(0) })
        let (number, end) = state.withLock { state -> (UInt64?, BLEError?) in
            // Under the lock, so that no change is reported before.
            buffer.yield(state.value)
            return (state.end == nil ? state.watchers.add(buffer) : nil, state.end)
        }
        if let end { buffer.finish(.failure(end)) }
        if let number { buffer.onEnd { [weak self] in self?.state.withLock { $0.watchers.remove(number) } } }
        return BoundedStream(buffer)
    }
}
