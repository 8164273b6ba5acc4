import HCISocket

/// Values from the radio, in order, for one consumer, in a buffer of stated size.
///
/// The stream owns its source: the scan or subscription ends when the consumer leaves its loop, is cancelled, or
/// releases the stream.
public struct BoundedStream<Element: Sendable>: AsyncSequence, Sendable {
    /// The error that ends a stream early.
    public typealias Failure = BLEError

    let buffer: StreamBuffer<Element>
    private let owner: Owner
    private let finish: Finish?

    /// The work that is left for a value before the consumer receives it.
    typealias Finish = @Sendable (Element) async -> Element

    /// Ends the source when the last reference to the stream is released.
    fileprivate final class Owner: Sendable {
        let buffer: StreamBuffer<Element>
        init(_ buffer: StreamBuffer<Element>) { self.buffer = buffer }
        deinit { buffer.abandon() }
    }

    /// Creates the stream of the values in `buffer`. `finish` runs with each value before the consumer
    /// receives it: one after the other, and only while the consumer requests values.
    init(_ buffer: StreamBuffer<Element>, finish: Finish? = nil) {
        self.buffer = buffer
        self.finish = finish
        owner = Owner(buffer)
    }

    /// The number of values that were dropped so far, under `BufferPolicy.newest`.
    public var dropped: Int { buffer.dropped }

    /// Returns the next value, if it arrives within `limit`; nil after the end of the stream. Throws
    /// `BLEError.timedOut` otherwise, and the error that ended the stream early.
    ///
    /// The stream goes on after the limit has passed, and after the cancellation of the task: values that arrive
    /// later can still be received. Only one task may wait for the next value.
    ///
    /// ```swift
    /// let answers = try await peripheral.values(of: answer)
    /// try await peripheral.write([0x01], to: command)
    /// let first = try await answers.next(within: .seconds(2))
    /// ```
    public nonisolated(nonsending) func next(within limit: Duration) async throws(BLEError) -> Element? {
        try await next(within: limit, orThrow: .timedOut(.value, after: limit))
    }

    nonisolated(nonsending) func next(
        within limit: Duration, orThrow timeout: BLEError
    ) async throws(BLEError) -> Element? {
        guard var value = try await buffer.next(within: limit, orThrow: timeout) else { return nil }
        if let finish { value = await finish(value) }
        buffer.taken(value)
        return value
    }

    /// Creates an iterator. A second iterator would take values from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer, owner: owner, finish: finish) }

    /// Iterates over the values. Only one task may wait for the next value.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: StreamBuffer<Element>
        fileprivate let owner: Owner
        fileprivate let finish: Finish?

        /// Returns the next value; nil after the end. Throws the error that ended the stream early, and
        /// `BLEError.cancelled` when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(BLEError) -> Element? {
            try await Self.next(buffer, finish)
        }

        /// Returns the next value; nil after the end.
        public nonisolated(nonsending) mutating func next() async throws(BLEError) -> Element? {
            try await Self.next(buffer, finish)
        }

        #if compiler(>=6.3)
        @specialized(where Element == Advertisement)
        #endif
        private nonisolated(nonsending) static func next(
            _ buffer: StreamBuffer<Element>, _ finish: Finish?
        ) async throws(BLEError) -> Element? {
            guard var value = try await buffer.next() else { return nil }
            if let finish { value = await finish(value) }
            buffer.taken(value)
            return value
        }
    }
}
