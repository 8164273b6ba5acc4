import DequeModule
import HCISocket

/// What a stream does with a value for which it has no room.
public enum BufferPolicy: Hashable, Sendable {
    /// The stream ends with `BLEError.overflow`, so that nothing is lost unnoticed.
    case overflow(limit: Int)
    /// The oldest value goes, and `dropped` counts it.
    case newest(Int)
}

/// Values from the radio, in order, for one consumer, in a buffer of stated size.
///
/// The stream owns what feeds it: when the consumer leaves its loop, is cancelled, or lets the stream go,
/// the scan or subscription behind it ends.
public struct BoundedStream<Element: Sendable>: AsyncSequence, Sendable {
    /// What ends a stream early.
    public typealias Failure = BLEError

    let buffer: StreamBuffer<Element>
    private let owner: Owner

    /// Ends the source when the last holder is gone.
    fileprivate final class Owner: Sendable {
        let buffer: StreamBuffer<Element>
        init(_ buffer: StreamBuffer<Element>) { self.buffer = buffer }
        deinit { buffer.abandon() }
    }

    init(_ buffer: StreamBuffer<Element>) {
        self.buffer = buffer
        owner = Owner(buffer)
    }

    /// Values that were dropped so far, under `BufferPolicy.newest`.
    public var dropped: Int { buffer.dropped }

    /// The consumer. A second one would take values from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer, owner: owner) }

    /// Takes values one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: StreamBuffer<Element>
        fileprivate let owner: Owner

        /// The next value; nil after the end. Throws what ended the stream early, and
        /// `BLEError.cancelled` when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(BLEError) -> Element? {
            try await buffer.next()
        }

        /// The next value; nil after the end.
        public mutating func next() async throws(BLEError) -> Element? { try await buffer.next() }
    }
}

/// The shared state of one stream: written on the loop, read wherever the consumer runs.
final class StreamBuffer<Element: Sendable>: Sendable {
    private struct State: ~Copyable {
        var values: Deque<Element> = []
        var waiter: CheckedContinuation<Result<Element?, BLEError>, Never>?
        var end: Result<Void, BLEError>?
        var cancelled = false
        var dropped = 0
        var onEnd: (@Sendable () -> Void)?
    }

    private enum Outcome {
        case done
        case resume(CheckedContinuation<Result<Element?, BLEError>, Never>)
        case full(Int)
    }

    private let state: Lock<State>
    private let policy: BufferPolicy

    init(_ policy: BufferPolicy) {
        self.policy = policy
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
        let outcome = state.withLock { state -> Outcome in
            guard state.end == nil else { return .done }
            if let waiter = state.waiter.take() { return .resume(waiter) }
            switch policy {
            case .overflow(let limit):
                guard state.values.count < limit else { return .full(limit) }
            case .newest(let limit):
                if state.values.count >= limit {
                    state.values.removeFirst()
                    state.dropped += 1
                }
            }
            state.values.append(value)
            return .done
        }
        switch outcome {
        case .done: break
        case .resume(let waiter): waiter.resume(returning: .success(value))
        case .full(let limit): finish(.failure(.overflow(limit: limit)))
        }
    }

    /// Ends the stream; what is in the buffer is still delivered first.
    func finish(_ end: Result<Void, BLEError> = .success(())) {
        let (waiter, action) = state.withLock {
            state -> (CheckedContinuation<Result<Element?, BLEError>, Never>?, (@Sendable () -> Void)?) in
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
                    if let value = state.values.popFirst() { return .success(value) }
                    if let end = state.end { return end.map { nil } }
                    state.waiter = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Result<Element?, BLEError>, Never>? in
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
