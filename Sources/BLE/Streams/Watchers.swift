/// The streams that receive the same values.
struct Watchers<Element: Sendable> {
    private var buffers: [UInt64: StreamBuffer<Element>] = [:]
    private var last: UInt64 = 0

    /// Adds a stream, and returns its number for `remove`.
    mutating func add(_ buffer: StreamBuffer<Element>) -> UInt64 {
        last += 1
        buffers[last] = buffer
        return last
    }

    mutating func remove(_ number: UInt64) { buffers[number] = nil }

    func emit(_ value: Element) {
        for buffer in buffers.values { buffer.yield(value) }
    }

    /// Ends all streams with `error`, and removes them.
    mutating func finish(_ error: BLEError) {
        let all = buffers.values
        buffers.removeAll()
        for buffer in all { buffer.finish(.failure(error)) }
    }
}
