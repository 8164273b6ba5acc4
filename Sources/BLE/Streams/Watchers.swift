/// The streams that receive the same values, in the order in which they were added.
struct Watchers<Element: Sendable> {
    private(set) var buffers: [StreamBuffer<Element>] = []
    /// The number of each stream, in ascending order.
    private var numbers: [UInt64] = []
    private var last: UInt64 = 0

    /// Adds a stream, and returns its number for `remove`.
    mutating func add(_ buffer: StreamBuffer<Element>) -> UInt64 {
        last += 1
        numbers.append(last)
        buffers.append(buffer)
        return last
    }

    mutating func remove(_ number: UInt64) {
        guard let index = numbers.firstIndex(of: number) else { return }
        numbers.remove(at: index)
        buffers.remove(at: index)
    }

    func emit(_ value: Element) {
        for buffer in buffers { buffer.yield(value) }
    }

    /// Ends all streams with `error`, and removes them.
    mutating func finish(_ error: BLEError) {
        let all = buffers
        (buffers, numbers) = ([], [])
        for buffer in all { buffer.finish(.failure(error)) }
    }
}
