import GATT
import GATTClient
import GATTServer
import HCISocket
import Testing

@testable import BLE

/// The order in which the steps of waits ran.
private typealias Steps = Lock<[String]>

extension Wait where Success == DisconnectReason {
    /// A wait of this test: for the end of a link that there is not.
    fileprivate static func number(_ number: UInt64) -> Self {
        .linkEnd(WaitsTests.link, nil, number: number)
    }
}

extension Adapter {
    /// Begins a wait. `action` runs in the step that begins the wait.
    fileprivate func wait(
        for number: UInt64, _ steps: Steps, then action: @Sendable (isolated Adapter) -> Void = { _ in }
    ) async throws(BLEError) -> DisconnectReason {
        let reason = try await waits.wait(in: self) { () throws(BLEError) in
            steps.withLock { $0.append("begin \(number)") }
            return .pending(.number(number))
        } then: {
            action(self)
        }
        steps.withLock { $0.append("end \(number)") }
        return reason
    }

    /// Waits for work that is done, or has failed, as soon as it is begun.
    fileprivate func wait(
        _ steps: Steps,
        beginning begin: @Sendable () throws(BLEError) -> WaitBeginning<DisconnectReason>
    ) async throws(BLEError) -> DisconnectReason {
        try await waits.wait(in: self, begin) { steps.withLock { $0.append("then") } }
    }

    /// Waits for the end of an operation of a link that there is not: no session ends it when it is cancelled.
    fileprivate func operation() async throws(BLEError) -> Outcome<GATTFailure> {
        let ticket = WaitsTests.operation
        return try await waits.wait(in: self) { () throws(BLEError) in .pending(.operation(ticket)) }
    }

    fileprivate func endOperation() {
        waits.end(.operation(WaitsTests.operation), .success(Outcome(.success(()))))
    }

    fileprivate func end(_ number: UInt64, _ errno: Int32) {
        waits.end(.number(number), .success(.errno(errno)))
    }

    fileprivate func endAll(_ result: Result<DisconnectReason, BLEError>) {
        waits.end(all: .ends(of: WaitsTests.link), result)
    }

    fileprivate var open: [WaitKey] { waits.keys }
}

extension WaitsTests {
    /// An operation of a session that no adapter has.
    fileprivate static var operation: TicketID {
        var connection = GATTConnection(ClientID(rawValue: link.number))
        return connection.session.run(ReadLongValue(1)).id
    }
}

extension Steps {
    fileprivate var value: [String] { withLock { $0 } }
}

@Suite(.timeLimit(.minutes(10))) struct WaitsTests {
    fileprivate static let link = LinkID(number: 1 << 32)

    /// Runs `body` on the loop of an adapter.
    private func run(
        _ body: @escaping @Sendable (VirtualTestbed, Adapter, Steps) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in try await body(bed, try await bed.adapter("waiting"), Steps([]))
        }
    }

    /// Starts tasks that wait, in this order.
    private func waiters(
        _ bed: VirtualTestbed, _ adapter: Adapter, _ steps: Steps, _ numbers: ClosedRange<UInt64>
    ) async -> [Task<DisconnectReason, any Error>] {
        let tasks = numbers.map { number in bed.task { try await adapter.wait(for: number, steps) } }
        await bed.wait(.milliseconds(1))
        return tasks
    }

    @Test("each wait ends with its result, in the order of the results")
    func resultsResumeTheirWaits() async throws {
        try await run { bed, adapter, steps in
            let tasks = await waiters(bed, adapter, steps, 1...3)
            #expect(steps.value == ["begin 1", "begin 2", "begin 3"])
            #expect(await adapter.open == [1, 2, 3].map { Wait.number($0).key })
            for number in [2, 3, 1] { await adapter.end(UInt64(number), Int32(number)) }
            #expect(await adapter.open == [])
            for (number, task) in zip(1..., tasks) {
                let reason = try await task.value
                #expect(reason == .errno(Int32(number)))
            }
            #expect(steps.value.suffix(3) == ["end 2", "end 3", "end 1"])
        }
    }

    @Test("a result for which no task waits is dropped")
    func unmatchedResultIsDropped() async throws {
        try await run { bed, adapter, steps in
            await adapter.end(1, 1)
            let tasks = await waiters(bed, adapter, steps, 1...1)
            await adapter.end(2, 2)
            #expect(await adapter.open == [Wait.number(1).key])
            await adapter.end(1, 3)
            await adapter.end(1, 4)
            let reason = try await tasks[0].value
            #expect(reason == .errno(3))
        }
    }

    @Test("waits of one kind end together, in the order in which they began, and new ones can begin")
    func groupEndsInOrder() async throws {
        try await run { bed, adapter, steps in
            let operation = bed.task { try await adapter.operation() }
            let tasks = await waiters(bed, adapter, steps, 1...3)
            await adapter.endAll(.failure(.adapter(.removed)))
            #expect(await adapter.open.count == 1)
            for task in tasks {
                let result = await task.result
                #expect(throws: BLEError.adapter(.removed)) { try result.get() }
            }
            #expect(!steps.value.contains { $0.hasPrefix("end") })
            let next = await waiters(bed, adapter, steps, 1...3)
            await adapter.endAll(.success(.errno(9)))
            for task in next {
                let reason = try await task.value
                #expect(reason == .errno(9))
            }
            #expect(steps.value.suffix(3) == ["end 1", "end 2", "end 3"])
            await adapter.endOperation()
            let outcome = try await operation.value.failure
            #expect(outcome == nil)
        }
    }

    @Test("a group contains the waits of its link, user or advertisement, and no others")
    func groupsContainTheirWaitsOnly() {
        let (link, other) = (LinkID(number: 1), LinkID(number: 2))
        let (user, another) = (LinkUser(link: link, number: 1), LinkUser(link: link, number: 2))
        let (sent, unsent) = (AdvertisingID(number: 1), AdvertisingID(number: 2))
        let operation = WaitKey.operation(Self.operation)
        let keys: [WaitKey] = [
            operation, .linkEnd(link, nil, number: 1), .linkEnd(link, user, number: 2),
            .linkEnd(link, another, number: 3), .linkEnd(other, nil, number: 4), .departure(link, number: 1),
            .departure(other, number: 2), .procedure(link, number: 1), .procedure(other, number: 2),
            .security(link), .turn(link, number: 1), .rest(number: 1), .power(number: 1), .update(1),
            .advertisement(sent), .advertisingEnd(sent, number: 1), .advertisingEnd(unsent, number: 2),
            .offAir(sent, number: 1), .offAir(unsent, number: 2),
        ]
        func expect<Success>(_ group: WaitGroup<Success>, _ expected: [WaitKey]) {
            #expect(keys.filter { group.contains($0) } == expected)
        }
        expect(.operations(on: Self.link), [operation])
        expect(.operations(on: link), [])
        expect(
            .ends(of: link),
            [
                .linkEnd(link, nil, number: 1), .linkEnd(link, user, number: 2),
                .linkEnd(link, another, number: 3),
            ])
        expect(.ends(for: user), [.linkEnd(link, user, number: 2)])
        expect(.departures(on: link), [.departure(link, number: 1)])
        expect(.procedures(of: link), [.procedure(link, number: 1)])
        expect(.rests, [.rest(number: 1)])
        expect(.powers, [.power(number: 1)])
        expect(.ends(of: sent), [.advertisingEnd(sent, number: 1)])
        expect(.offAir, [.offAir(sent, number: 1), .offAir(unsent, number: 2)])
        expect(.offAir(sent), [.offAir(sent, number: 1)])
    }

    @Test("cancelling a task ends its wait; other waits continue")
    func cancellationEndsOneWait() async throws {
        try await run { bed, adapter, steps in
            let tasks = await waiters(bed, adapter, steps, 1...2)
            tasks[0].cancel()
            let result = await tasks[0].result
            #expect(throws: BLEError.cancelled) { try result.get() }
            #expect(await adapter.open == [Wait.number(2).key])
            await adapter.end(2, 2)
            let reason = try await tasks[1].value
            #expect(reason == .errno(2))
        }
    }

    @Test("a cancelled task waits for the result when its operation ends only later")
    func unstoppableOperationKeepsCancelledTask() async throws {
        try await run { bed, adapter, _ in
            let task = bed.task { try await adapter.operation() }
            await bed.wait(.milliseconds(1))
            task.cancel()
            await bed.wait(.milliseconds(1))
            #expect(await adapter.open.count == 1)
            await adapter.endOperation()
            let outcome = try await task.value.failure
            #expect(outcome == nil)
        }
    }

    @Test("a task that was already cancelled begins nothing")
    func cancelledTaskBeginsNothing() async throws {
        try await run { bed, adapter, steps in
            let task = bed.task { try await adapter.wait(for: 1, steps) }
            task.cancel()
            let result = await task.result
            #expect(throws: BLEError.cancelled) { try result.get() }
            await bed.wait(.milliseconds(1))
            #expect(await adapter.open == [])
            #expect(steps.value == [])
        }
    }

    @Test("work that is done or fails at once leaves no wait")
    func immediateResultOrFailureNeedsNoWait() async throws {
        try await run { bed, adapter, steps in
            let reason = try await adapter.wait(steps) { .done(.errno(1)) }
            #expect(reason == .errno(1))
            #expect(steps.value == ["then"])
            let error = await failure { () throws(BLEError) in
                _ = try await adapter.wait(steps) { () throws(BLEError) in throw .adapter(.removed) }
            }
            #expect(error == .adapter(.removed))
            // `then` does not run after a beginning that failed.
            #expect(steps.value == ["then"])
            #expect(await adapter.open == [])
        }
    }

    @Test("the step that begins a wait can end that wait and others")
    func sameStepCanEndWaits() async throws {
        try await run { bed, adapter, steps in
            let tasks = await waiters(bed, adapter, steps, 1...1)
            let reason = try await adapter.wait(for: 2, steps) { adapter in
                adapter.end(2, 2)
                adapter.end(1, 1)
            }
            #expect(reason == .errno(2))
            let other = try await tasks[0].value
            #expect(other == .errno(1))
        }
    }

    @Test("a repeated wait does not end with the earlier result")
    func repeatedWaitIgnoresEarlierResult() async throws {
        try await run { bed, adapter, steps in
            let task = bed.task {
                [try await adapter.wait(for: 1, steps), try await adapter.wait(for: 1, steps)]
            }
            await bed.wait(.milliseconds(1))
            await adapter.endAll(.success(.errno(1)))
            await bed.wait(.milliseconds(1))
            #expect(await adapter.open == [Wait.number(1).key])
            await adapter.end(1, 2)
            let reason = try await task.value
            #expect(reason == [.errno(1), .errno(2)])
        }
    }
}
