import HCISocket
import Testing

@testable import BLE

/// Waits of tasks on an adapter, and the order in which their steps ran.
private final class Waits: @unchecked Sendable {
    // Sendable: accessed only on the adapter's loop.
    let pending = PendingOperations<Int, String>()
    var steps: [String] = []
    /// Whether cancellation ends a wait.
    var endsCancelled = true
}

extension Adapter {
    /// Waits under `key`. `action` runs in the step that begins the wait.
    fileprivate func wait(
        _ waits: Waits, for key: Int, then action: @Sendable () -> Void = {}
    ) async throws(BLEError) -> String {
        let value = try await waits.pending.wait(in: self) { adapter, key in
            waits.steps.append("cancel \(key)")
            if waits.endsCancelled { waits.pending.resume(key, with: .failure(.cancelled)) }
        } begin: { () throws(BLEError) in
            waits.steps.append("begin \(key)")
            return .pending(key)
        } then: {
            action()
        }
        waits.steps.append("end \(key)")
        return value
    }

    /// Waits for work that is done, or has failed, as soon as it is begun.
    fileprivate func wait(
        _ waits: Waits, beginning begin: @Sendable () throws(BLEError) -> WaitBeginning<Int, String>
    ) async throws(BLEError) -> String {
        try await waits.pending.wait(in: self) { _, key in
            waits.steps.append("cancel \(key)")
        } begin: { () throws(BLEError) in
            try begin()
        } then: {
            waits.steps.append("then")
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct PendingOperationsTests {
    /// Runs `body` on the loop of an adapter.
    private func run(
        _ body: @escaping @Sendable (VirtualTestbed, Adapter, Waits) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            try await body(bed, try await bed.adapter("waiting"), Waits())
        }
    }

    /// Starts tasks that wait under these keys, in this order.
    private func waiters(
        _ bed: VirtualTestbed, _ adapter: Adapter, _ waits: Waits, keys: some Sequence<Int>
    ) async -> [Task<String, any Error>] {
        let tasks = keys.map { key in bed.task { try await adapter.wait(waits, for: key) } }
        await bed.wait(.milliseconds(1))
        return tasks
    }

    @Test("each wait ends with the result for its key, in the order of the results")
    func resultsResumeTheirWaits() async throws {
        try await run { bed, adapter, waits in
            let tasks = await waiters(bed, adapter, waits, keys: 1...3)
            #expect(waits.steps == ["begin 1", "begin 2", "begin 3"])
            #expect(waits.pending.count == 3)
            for key in [2, 3, 1] {
                #expect(waits.pending.contains(key))
                waits.pending.resume(key, with: .success("value \(key)"))
                #expect(!waits.pending.contains(key))
            }
            #expect(waits.pending.count == 0)
            for (key, task) in zip(1..., tasks) {
                let value = try await task.value
                #expect(value == "value \(key)")
            }
            #expect(waits.steps.suffix(3) == ["end 2", "end 3", "end 1"])
        }
    }

    @Test("a result for a key without a waiting task is dropped")
    func unmatchedResultIsDropped() async throws {
        try await run { bed, adapter, waits in
            waits.pending.resume(1, with: .success("early"))
            let tasks = await waiters(bed, adapter, waits, keys: [1])
            waits.pending.resume(2, with: .success("another's"))
            #expect(waits.pending.count == 1)
            waits.pending.resume(1, with: .success("first"))
            waits.pending.resume(1, with: .success("second"))
            let value = try await tasks[0].value
            #expect(value == "first")
        }
    }

    @Test("an owner's failure ends all its waits, and new ones can start")
    func ownerFailureEndsAllWaits() async throws {
        try await run { bed, adapter, waits in
            let tasks = await waiters(bed, adapter, waits, keys: 1...3)
            waits.pending.resumeAll(with: .failure(.adapter(.removed)))
            #expect(waits.pending.count == 0)
            for task in tasks {
                let result = await task.result
                #expect(throws: BLEError.adapter(.removed)) { try result.get() }
            }
            #expect(!waits.steps.contains { $0.hasPrefix("end") || $0.hasPrefix("cancel") })
            let next = await waiters(bed, adapter, waits, keys: [1])
            waits.pending.resume(1, with: .success("again"))
            let value = try await next[0].value
            #expect(value == "again")
        }
    }

    @Test("waits can be ended by a predicate on their keys")
    func waitsEndByKeyPredicate() async throws {
        try await run { bed, adapter, waits in
            let tasks = await waiters(bed, adapter, waits, keys: 1...4)
            waits.pending.resume(where: { $0 % 2 == 0 }, with: .failure(.adapter(.closed)))
            #expect(waits.pending.contains(1) && waits.pending.contains(3) && waits.pending.count == 2)
            waits.pending.resumeAll(with: .success("odd"))
            for (key, task) in zip(1..., tasks) {
                let result = await task.result
                if key % 2 == 0 {
                    #expect(throws: BLEError.adapter(.closed)) { try result.get() }
                } else {
                    let value = try result.get()
                    #expect(value == "odd")
                }
            }
        }
    }

    @Test("cancelling a waiting task lets the owner end its wait; other waits continue")
    func cancellationEndsOneWait() async throws {
        try await run { bed, adapter, waits in
            let tasks = await waiters(bed, adapter, waits, keys: 1...2)
            tasks[0].cancel()
            let result = await tasks[0].result
            #expect(throws: BLEError.cancelled) { try result.get() }
            #expect(waits.steps == ["begin 1", "begin 2", "cancel 1"])
            #expect(waits.pending.count == 1)
            waits.pending.resume(2, with: .success("done"))
            let value = try await tasks[1].value
            #expect(value == "done")
        }
    }

    @Test("a cancelled task waits for the result when the owner cannot stop its operation")
    func unstoppableOperationKeepsCancelledTask() async throws {
        try await run { bed, adapter, waits in
            waits.endsCancelled = false
            let tasks = await waiters(bed, adapter, waits, keys: [1])
            tasks[0].cancel()
            await bed.wait(.milliseconds(1))
            #expect(waits.steps == ["begin 1", "cancel 1"])
            #expect(waits.pending.contains(1))
            waits.pending.resume(1, with: .success("done all the same"))
            let value = try await tasks[0].value
            #expect(value == "done all the same")
        }
    }

    @Test("a task that was already cancelled starts nothing")
    func cancelledTaskStartsNothing() async throws {
        try await run { bed, adapter, waits in
            let task = bed.task { try await adapter.wait(waits, for: 1) }
            task.cancel()
            let result = await task.result
            #expect(throws: BLEError.cancelled) { try result.get() }
            await bed.wait(.milliseconds(1))
            #expect(waits.steps.isEmpty && waits.pending.count == 0)
        }
    }

    @Test("an operation that completes or fails at once leaves no wait")
    func immediateResultOrFailureNeedsNoWait() async throws {
        try await run { bed, adapter, waits in
            let value = try await adapter.wait(waits) { .done("at once") }
            #expect(value == "at once")
            #expect(waits.steps == ["then"])
            let error = await failure { () throws(BLEError) in
                _ = try await adapter.wait(
                    waits, beginning: { () throws(BLEError) in throw .adapter(.removed) })
            }
            #expect(error == .adapter(.removed))
            // `then` does not run after a beginning that failed.
            #expect(waits.steps == ["then"] && waits.pending.count == 0)
        }
    }

    @Test("the step that starts a wait can end that wait and others")
    func sameStepCanEndWaits() async throws {
        try await run { bed, adapter, waits in
            let tasks = await waiters(bed, adapter, waits, keys: [1])
            let value = try await adapter.wait(waits, for: 2) {
                waits.pending.resume(2, with: .success("mine"))
                waits.pending.resume(1, with: .success("another's"))
            }
            #expect(value == "mine")
            let other = try await tasks[0].value
            #expect(other == "another's")
        }
    }

    @Test("a repeated wait under the same key does not end with the earlier result")
    func repeatedWaitIgnoresEarlierResult() async throws {
        try await run { bed, adapter, waits in
            let task = bed.task {
                let first = try await adapter.wait(waits, for: 1)
                return (first, try await adapter.wait(waits, for: 1))
            }
            await bed.wait(.milliseconds(1))
            waits.pending.resumeAll(with: .success("first"))
            await bed.wait(.milliseconds(1))
            #expect(waits.pending.contains(1))
            waits.pending.resume(1, with: .success("second"))
            let values = try await task.value
            #expect(values == ("first", "second"))
        }
    }
}
