import HCISocket

/// Waits until a recording is to end: it has enough, its time is over, it failed, the output has no reader any more,
/// or the command is cancelled.
final class CaptureEnd: Sendable {
    private let wanted: Int?
    private let isReached = Lock(false)
    private let stream: AsyncStream<Failure?>
    private let continuation: AsyncStream<Failure?>.Continuation

    init(count: Int?) {
        wanted = count
        // The first reason is the reason.
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Whether another record is wanted: what is said to a controller afterwards is not.
    var wantsMore: Bool { isReached.withLock { !$0 } }

    /// There are so many records now.
    func note(_ count: Int) {
        guard let wanted, count >= wanted else { return }
        isReached.withLock { $0 = true }
        continuation.yield(nil)
    }

    /// Ends the capture with a failure.
    func fail(_ failure: Failure) { continuation.yield(failure) }

    /// Waits for the end; gives why it failed, where it did.
    func wait(_ limit: Duration?, _ console: Console, isPiped: Bool) async -> Failure? {
        await withTaskGroup(of: Failure?.self) { group in
            group.addTask { [stream] in
                for await failure in stream { return failure }
                return nil
            }
            group.addTask {
                await Interruption.wait(limit)
                return nil
            }
            if isPiped {
                group.addTask {
                    await console.output.readerHasGone()
                    return nil
                }
            }
            let failure = await group.next() ?? nil
            group.cancelAll()
            return failure
        }
    }
}
