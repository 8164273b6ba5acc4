import DequeModule
import HCISocket

/// The shared state of one stream: written on the loop, read wherever the consumer runs.
final class StreamBuffer<Element: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Element?, BLEError>, Never>

    private struct State: ~Copyable {
        var values: Deque<Element> = []
        var octets = 0
        var waiter: Waiter?
        var end: Result<Void, BLEError>?
        var cancelled = false
        var dropped = 0
        var onEnd: (@Sendable () -> Void)?
    }

    private enum Outcome {
        case done
        case resume(Waiter)
        case full(BufferLimit)
        case dropped(Element)
    }

    private let state: Lock<State>
    private let policy: BufferPolicy
    private let octets: @Sendable (Element) -> Int
    private let onTake: (@Sendable (Element) -> Void)?

    /// A buffer. `octets` tells what a value counts against a limit of octets; `onTake` runs when the consumer
    /// has a value, or never will because it was dropped.
    init(
        _ policy: BufferPolicy, octets: @escaping @Sendable (Element) -> Int = { _ in 0 },
        onTake: (@Sendable (Element) -> Void)? = nil
    ) {
        self.policy = policy
        self.octets = octets
        self.onTake = onTake
        state = Lock(State())
    }

    var dropped: Int { state.withLock { $0.dropped } }

    /// What to do when the consumer is gone or the buffer is full: end the source.
    func onEnd(_ action: @escaping @Sendable () -> Void) {
        let late = state.withLock { state -> Bool in
            if state.end == nil { state.onEnd = action }
            return state.end != nil
        }
        if late { action() }
    }

    /// Adds a value.
    func yield(_ value: Element) {
        let size = octets(value)
        let outcome = state.withLock { state -> Outcome in
            guard state.end == nil else { return .done }
            if let waiter = state.waiter.take() { return .resume(waiter) }
            var outcome = Outcome.done
            switch policy {
            case .overflow(let limit, let octetLimit):
                guard state.values.count < limit else { return .full(.values(limit)) }
                guard size <= octetLimit - state.octets else { return .full(.octets(octetLimit)) }
            case .newest(let limit):
                if state.values.count >= limit, let oldest = state.values.popFirst() {
                    state.octets -= octets(oldest)
                    state.dropped += 1
                    outcome = .dropped(oldest)
                }
            }
            state.values.append(value)
            state.octets += size
            return outcome
        }
        switch outcome {
        case .done: break
        case .resume(let waiter): waiter.resume(returning: .success(value))
        case .full(let limit): finish(.failure(.overflow(limit)))
        case .dropped(let value): taken(value)
        }
    }

    /// The consumer has a value.
    func taken(_ value: Element) { onTake?(value) }

    /// Ends the stream; what is in the buffer is still delivered first.
    func finish(_ end: Result<Void, BLEError> = .success(())) {
        let (waiter, action) = state.withLock { state -> (Waiter?, (@Sendable () -> Void)?) in
            guard state.end == nil else { return (nil, nil) }
            state.end = end
            return (state.waiter.take(), state.onEnd.take())
        }
        waiter?.resume(returning: end.map { nil })
        action?()
    }

    /// The consumer is gone.
    func abandon() {
        finish()
        state.withLock { $0.values.removeAll() }
    }

    func next() async throws(BLEError) -> Element? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Result<Element?, BLEError>? in
                    if state.cancelled { return .failure(.cancelled) }
                    if let value = state.values.popFirst() {
                        state.octets -= octets(value)
                        return .success(value)
                    }
                    if let end = state.end { return end.map { nil } }
                    guard state.waiter == nil else {
                        return .failure(.invalidRequest("another task waits for this stream's next value"))
                    }
                    state.waiter = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                state.cancelled = true
                return state.waiter.take()
            }
            waiter?.resume(returning: .failure(.cancelled))
        }
        // A cancelled consumer will not come back: the source ends now, not when the stream is let go.
        if case .failure(.cancelled) = result { abandon() }
        return try result.get()
    }
}
