import DequeModule
import HCISocket

/// The shared state of one stream: written on the loop, read wherever the consumer runs.
final class StreamBuffer<Element: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Element?, BLEError>, Never>

    private struct State: ~Copyable {
        var values: Deque<Element> = []
        var octets = 0
        var waiter: Waiter?
        /// The number of the last wait with a limit, and the error with which it was ended, if it was.
        var wait: UInt64 = 0
        var withdrawn: BLEError?
        /// The consumer that waited, and the value that it receives when the loop wakes it.
        var handed: (waiter: Waiter, value: Element)?
        var end: Result<Void, BLEError>?
        var cancelled = false
        var dropped = 0
        /// The values that arrived while the stream is held; nil when it is not held.
        var held: RecencyTable<AnyHashable, Element>?
        var onEnd: [@Sendable () -> Void] = []
    }

    private enum Outcome {
        case done
        case resume(Waiter)
        case wake
        case full(BufferLimit)
        case dropped(Element)
    }

    private let state: Lock<State>
    private let policy: BufferPolicy
    /// The loop on which values are added, if they arrive in bursts: a consumer is woken once for all values
    /// of a turn.
    private let loop: EventLoop?
    private let octets: @Sendable (Element) -> Int
    private let onTake: (@Sendable (Element) -> Void)?
    private let merge: (@Sendable (Element) -> AnyHashable)?

    /// Creates a buffer. With a `loop`, on which all values are added, a consumer that waits is woken at the
    /// end of the loop's turn, once for all values that arrived in it. `octets` returns the size of a value
    /// that counts against a limit of octets. `onTake` runs when the consumer has a value, or never will
    /// because it was dropped. Of values with the same `merge` the last one is kept while the stream is held;
    /// without `merge` it cannot be held.
    init(
        _ policy: BufferPolicy, on loop: EventLoop? = nil,
        octets: @escaping @Sendable (Element) -> Int = { _ in 0 },
        onTake: (@Sendable (Element) -> Void)? = nil, merge: (@Sendable (Element) -> AnyHashable)? = nil
    ) {
        self.policy = policy
        self.loop = loop
        self.octets = octets
        self.onTake = onTake
        self.merge = merge
        state = Lock(State())
    }

    /// Whether the stream has ended. Its values can still be taken.
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    var dropped: Int { state.withLock { $0.dropped } }

    /// The error with which the stream has ended by itself, if it has.
    var failure: BLEError? {
        state.withLock { if case .failure(let error)? = $0.end { error } else { nil } }
    }

    /// Adds an action that runs when the stream ends, such as when the consumer is gone or the buffer is
    /// full; it ends the source. Runs it at once if the stream has already ended.
    func onEnd(_ action: @escaping @Sendable () -> Void) {
        let late = state.withLock { state -> Bool in
            if state.end == nil { state.onEnd.append(action) }
            return state.end != nil
        }
        if late { action() }
    }

    /// Adds a value, or passes it to the consumer that waits. `policy` determines what happens to it when
    /// there is no room.
    #if compiler(>=6.3)
    @specialized(where Element == Advertisement)
    #endif
    func yield(_ value: Element) {
        let size = octets(value)
        let outcome = state.withLock { state -> Outcome in
            guard state.end == nil else { return .done }
            guard state.held == nil else { return hold(value, in: &state) }
            if let waiter = state.waiter.take() {
                guard loop != nil else { return .resume(waiter) }
                state.handed = (waiter, value)
                return .wake
            }
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
        case .wake: loop?.wakeSoon(self)
        case .resume(let waiter): waiter.resume(returning: .success(value))
        case .full(let limit): finish(.failure(.overflow(limit)))
        case .dropped(let value): taken(value)
        }
    }

    /// Notes that the consumer has received a value.
    func taken(_ value: Element) { onTake?(value) }

    /// Ends the stream; what is in the buffer is still delivered first.
    func finish(_ end: Result<Void, BLEError> = .success(())) {
        let (waiter, next, actions) = state.withLock {
            state -> (Waiter?, Result<Element?, BLEError>?, [@Sendable () -> Void]) in
            guard state.end == nil else { return (nil, nil, []) }
            state.end = end
            deliverHeld(&state)
            let actions = state.onEnd
            state.onEnd = []
            guard let waiter = state.waiter.take() else { return (nil, nil, actions) }
            return (waiter, takeReady(from: &state), actions)
        }
        waiter?.resume(returning: next ?? end.map { nil })
        for action in actions { action() }
    }

    /// Ends the stream because its consumer is gone.
    func abandon() {
        finish()
        state.withLock { $0.values.removeAll() }
    }

    /// Returns the next value; nil after the end. Runs where its caller does, so that an available value
    /// costs no suspension. Advertisements can arrive by the hundred thousand a second: for them the code is
    /// specialized, without the lookups of generic code at run time.
    #if compiler(>=6.3)
    @specialized(where Element == Advertisement)
    #endif
    nonisolated(nonsending) func next() async throws(BLEError) -> Element? {
        if !Task.isCancelled, let ready = takeReady() { return try ready.get() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Result<Element?, BLEError>? in
                    if let ready = takeReady(from: &state) { return ready }
                    guard state.waiter == nil else {
                        return .failure(.invalidRequest(.streamInUse))
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
        // A cancelled consumer does not return: the source ends now, not when the stream is released.
        if case .failure(.cancelled) = result { abandon() }
        return try result.get()
    }

    /// As `next`, but waits until `limit` has passed at most, and then throws `timeout`. Neither that nor the
    /// cancellation of the task ends the stream.
    nonisolated(nonsending) func next(
        within limit: Duration, orThrow timeout: BLEError
    ) async throws(BLEError) -> Element? {
        if !Task.isCancelled, let ready = takeReady() { return try ready.get() }
        let clock = loop ?? .shared
        let number = state.withLock { state -> UInt64? in
            guard state.waiter == nil else { return nil }
            (state.wait, state.withdrawn) = (state.wait &+ 1, nil)
            return state.wait
        }
        guard let number else { throw .invalidRequest(.streamInUse) }
        let alarm = Task(executorPreference: clock) { [weak self] in
            if await clock.sleep(for: limit) { self?.withdraw(number, timeout) }
        }
        defer {
            alarm.cancel()
            // An alarm that is late must not end the wait of another call.
            state.withLock { if $0.wait == number { $0.wait &+= 1 } }
        }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Result<Element?, BLEError>? in
                    if let ready = takeReady(from: &state) { return ready }
                    guard state.waiter == nil, state.wait == number else {
                        return .failure(.invalidRequest(.streamInUse))
                    }
                    // The limit has passed, or the task was cancelled, before the wait began.
                    if let error = state.withdrawn { return .failure(error) }
                    state.waiter = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            withdraw(number, .cancelled)
        }.get()
    }

    /// Ends the wait with this number, if it is still the last one.
    private func withdraw(_ number: UInt64, _ error: BLEError) {
        let waiter = state.withLock { state -> Waiter? in
            guard state.wait == number else { return nil }
            state.withdrawn = error
            return state.waiter.take()
        }
        waiter?.resume(returning: .failure(error))
    }

    /// Drops the values that wait to be taken.
    func dropAll() {
        let dropped = takeAll()
        state.withLock { $0.dropped += dropped.count }
        for value in dropped { taken(value) }
    }

    /// Removes and returns the values that wait to be taken.
    func takeAll() -> [Element] {
        state.withLock { state in
            defer { (state.values, state.octets) = ([], 0) }
            return Array(state.values)
        }
    }

    private func takeReady() -> Result<Element?, BLEError>? { state.withLock { takeReady(from: &$0) } }

    private func takeReady(from state: inout State) -> Result<Element?, BLEError>? {
        if state.cancelled { return .failure(.cancelled) }
        guard let value = takeValue(from: &state) else { return state.end.map { $0.map { nil } } }
        return .success(value)
    }
}

extension StreamBuffer: Wakeable {
    func wake() {
        let handed = state.withLock { $0.handed.take() }
        if let (waiter, value) = handed { waiter.resume(returning: .success(value)) }
    }
}

// MARK: - Holding back

extension StreamBuffer {
    /// Withholds new values from the consumer until `release`; earlier values can still be taken.
    func hold() {
        guard merge != nil else { return }
        let limit =
            switch policy {
            case .overflow(let limit, _), .newest(let limit): limit
            }
        state.withLock { state in
            if state.held == nil, state.end == nil { state.held = RecencyTable(limit: limit) }
        }
    }

    /// Delivers the values that were held back.
    func release() {
        let (outcome, value) = state.withLock { state -> (Outcome, Element?) in
            deliverHeld(&state)
            if case .overflow(let limit, _) = policy, state.values.count > limit {
                return (.full(.values(limit)), nil)
            }
            guard !state.values.isEmpty, let waiter = state.waiter.take() else { return (.done, nil) }
            return (.resume(waiter), takeValue(from: &state))
        }
        switch outcome {
        case .resume(let waiter): waiter.resume(returning: .success(value))
        case .full(let limit): finish(.failure(.overflow(limit)))
        case .done, .dropped, .wake: break
        }
    }

    /// Holds back a value, in place of the last one with the same key.
    private func hold(_ value: Element, in state: inout State) -> Outcome {
        guard let key = merge?(value),
            let evicted = state.held?.use(key, first: value, { $0 = value }).evicted
        else { return .done }
        if case .overflow(let limit, _) = policy { return .full(.values(limit)) }
        state.dropped += 1
        return .dropped(evicted)
    }

    /// Adds the values that were held back as if they arrived now.
    private func deliverHeld(_ state: inout State) {
        guard let held = state.held.take() else { return }
        for value in held.newest(held.count).reversed() {
            state.values.append(value)
            state.octets += octets(value)
        }
        guard case .newest(let limit) = policy else { return }
        while state.values.count > max(limit, 1), takeValue(from: &state) != nil { state.dropped += 1 }
    }

    private func takeValue(from state: inout State) -> Element? {
        guard let value = state.values.popFirst() else { return nil }
        state.octets -= octets(value)
        return value
    }
}
