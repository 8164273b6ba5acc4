#if compiler(<6.3)
/// What the standard library of Swift 6.3 has.
extension Array {
    /// Creates an array of the elements that `body` writes, at most `capacity`.
    @inlinable
    package init<Failure: Error>(
        capacity: Int, initializingWith body: (inout OutputSpan<Element>) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        self = unsafe Array(unsafeUninitializedCapacity: capacity) { (buffer, count) in
            var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            do throws(Failure) { try body(&output) } catch { failure = error }
            count = unsafe output.finalize(for: buffer)
        }
        if let failure { throw failure }
    }

    /// Appends the elements that `body` writes, at most `capacity`.
    @inlinable
    package mutating func append<Failure: Error>(
        addingCapacity capacity: Int,
        initializingWith body: (inout OutputSpan<Element>) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        unsafe withUnsafeTemporaryAllocation(of: Element.self, capacity: capacity) { buffer in
            var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            do throws(Failure) { try body(&output) } catch { failure = error }
            let count = unsafe output.finalize(for: buffer)
            unsafe append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<count]))
            unsafe buffer[..<count].deinitialize()
        }
        if let failure { throw failure }
    }
}
#endif
