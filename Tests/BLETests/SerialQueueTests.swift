import HCISocket
import Testing

@testable import BLE

/// The tasks that were admitted, in order.
private typealias Notes = Lock<[String]>

extension Adapter {
    /// The one link of this adapter. No other task uses its queue: connecting is over.
    private var onlyLink: LinkID {
        get throws(BLEError) {
            guard let link = links.first else { throw .notFound(.device(within: nil)) }
            return link.id
        }
    }

    /// Waits for the turn in the link's queue, and notes it. `leaveQueue` ends the turn.
    fileprivate func enterQueue(_ name: String, _ notes: Notes) async throws(BLEError) {
        _ = try await enter(\.preparation, of: onlyLink)
        notes.withLock { $0.append(name) }
    }

    fileprivate func leaveQueue() throws(BLEError) { try callers(of: onlyLink).preparation.leave() }

    /// Ends the turn, and cancels `next`, whose turn begins, before it runs.
    fileprivate func leaveQueue(cancelling next: Task<Void, any Error>) throws(BLEError) {
        try leaveQueue()
        next.cancel()
    }

    fileprivate func closeQueue(_ error: BLEError) throws(BLEError) {
        try callers(of: onlyLink).preparation.close(error)
    }
}

@Suite(.timeLimit(.minutes(10))) struct SerialQueueTests {
    private func run(
        _ body: @escaping @Sendable (LinkedHosts, Notes) async throws -> Void
    ) async throws {
        try await LinkedHosts.run { hosts in try await body(hosts, Notes([])) }
    }

    /// Starts tasks that enter the queue in this order, and waits 1 ms for the first to be admitted.
    private func tasks(
        _ hosts: LinkedHosts, _ notes: Notes, _ names: String...
    ) async -> [Task<Void, any Error>] {
        let client = hosts.client
        let tasks = names.map { name in hosts.bed.task { try await client.enterQueue(name, notes) } }
        await hosts.bed.wait(.milliseconds(1))
        return tasks
    }

    /// Ends the turn of the admitted task, and waits 1 ms for the next one to be admitted.
    private func leave(_ hosts: LinkedHosts) async throws {
        try await hosts.client.leaveQueue()
        await hosts.bed.wait(.milliseconds(1))
    }

    @Test("one task enters at a time, in the order of arrival")
    func admitsTasksInOrder() async throws {
        try await run { hosts, notes in
            let all = await tasks(hosts, notes, "a", "b", "c", "d")
            for names in [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]] {
                #expect(notes.withLock { $0 } == names)
                try await leave(hosts)
            }
            for task in all { try await task.value }
            // The queue is free again.
            _ = await tasks(hosts, notes, "e")
            #expect(notes.withLock { $0 }.last == "e")
            try await leave(hosts)
        }
    }

    @Test("a new task does not overtake waiting tasks")
    func noOvertaking() async throws {
        try await run { hosts, notes in
            _ = await tasks(hosts, notes, "a", "b")
            // The waiting task is admitted in this step; the new task is started before that one runs.
            let client = hosts.client
            try await client.leaveQueue()
            let late = hosts.bed.task { try await client.enterQueue("late", notes) }
            await hosts.bed.wait(.milliseconds(1))
            #expect(notes.withLock { $0 } == ["a", "b"])
            try await leave(hosts)
            #expect(notes.withLock { $0 } == ["a", "b", "late"])
            try await late.value
            try await leave(hosts)
        }
    }

    @Test("a task that is cancelled while it waits loses only its own place")
    func cancelledWaiterLosesOnlyItsPlace() async throws {
        try await run { hosts, notes in
            let all = await tasks(hosts, notes, "a", "b", "c", "d")
            all[1].cancel()
            let result = await all[1].result
            #expect(throws: BLEError.cancelled) { try result.get() }
            #expect(notes.withLock { $0 } == ["a"])
            for _ in 0..<3 { try await leave(hosts) }
            #expect(notes.withLock { $0 } == ["a", "c", "d"])
            // The last task has left the queue: the place of the cancelled one is not kept.
            _ = await tasks(hosts, notes, "e")
            #expect(notes.withLock { $0 } == ["a", "c", "d", "e"])
            try await leave(hosts)
        }
    }

    @Test("an admitted task stays admitted when it is cancelled before it runs")
    func admittedTaskSurvivesCancellation() async throws {
        try await run { hosts, notes in
            let all = await tasks(hosts, notes, "a", "b", "c")
            try await hosts.client.leaveQueue(cancelling: all[1])
            await hosts.bed.wait(.milliseconds(1))
            try await all[1].value
            #expect(notes.withLock { $0 } == ["a", "b"])
            try await leave(hosts)
            #expect(notes.withLock { $0 } == ["a", "b", "c"])
            try await leave(hosts)
        }
    }

    @Test("a task that was already cancelled takes no place")
    func cancelledTaskTakesNoPlace() async throws {
        try await run { hosts, notes in
            let client = hosts.client
            _ = await tasks(hosts, notes, "a")
            let cancelled = hosts.bed.task { try await client.enterQueue("b", notes) }
            cancelled.cancel()
            let result = await cancelled.result
            #expect(throws: BLEError.cancelled) { try result.get() }
            _ = await tasks(hosts, notes, "c")
            try await leave(hosts)
            #expect(notes.withLock { $0 } == ["a", "c"])
            try await leave(hosts)
        }
    }

    @Test("the admitted task waits like any other when it enters again")
    func reenteringTaskWaits() async throws {
        try await run { hosts, notes in
            let client = hosts.client
            let task = hosts.bed.task {
                try await client.enterQueue("outer", notes)
                try await client.enterQueue("inner", notes)
            }
            await hosts.bed.wait(.milliseconds(1))
            #expect(notes.withLock { $0 } == ["outer"])
            task.cancel()
            let result = await task.result
            #expect(throws: BLEError.cancelled) { try result.get() }
            // The task was admitted once, so it leaves once.
            try await leave(hosts)
            _ = await tasks(hosts, notes, "next")
            #expect(notes.withLock { $0 } == ["outer", "next"])
            try await leave(hosts)
        }
    }

    @Test("closing a queue ends all waiting tasks and refuses later ones")
    func closingEndsWaitsAndRefusesTasks() async throws {
        try await run { hosts, notes in
            let waiting = await tasks(hosts, notes, "a", "b", "c")
            try await hosts.client.closeQueue(.adapter(.removed))
            let late = await tasks(hosts, notes, "d")
            for task in [waiting[1], waiting[2], late[0]] {
                let result = await task.result
                #expect(throws: BLEError.adapter(.removed)) { try result.get() }
            }
            #expect(notes.withLock { $0 } == ["a"])
            // The admitted task leaves as usual, and no other is admitted.
            try await leave(hosts)
            #expect(notes.withLock { $0 } == ["a"])
            // The queue stays closed.
            let latest = await tasks(hosts, notes, "e")
            let result = await latest[0].result
            #expect(throws: BLEError.adapter(.removed)) { try result.get() }
        }
    }

    @Test("tasks that wait on a link get its disconnect error")
    func disconnectEndsWaits() async throws {
        try await run { hosts, notes in
            let waiting = await tasks(hosts, notes, "a", "b", "c")
            await hosts.server.close()
            for task in waiting.dropFirst() {
                let result = await task.result
                let error = #expect(throws: BLEError.self) { try result.get() }
                guard case .disconnected? = error else {
                    Issue.record("not the end of the link: \(String(describing: error))")
                    continue
                }
            }
            #expect(notes.withLock { $0 } == ["a"])
        }
    }
}
