import BLECore
import HCI
import Testing

@testable import BLE

/// The synchronizer with a controller that answers early, late or never, and that fails.
struct PeriodicSynchronizerTests {
    /// Plays every sequence of up to `depth` steps, and calls `look` at the end of each.
    private func everySequence(
        of depth: Int, _ played: PlayedSynchronizer = PlayedSynchronizer(),
        _ steps: [PlayedSynchronizer.Step] = [],
        _ look: (PlayedSynchronizer, [PlayedSynchronizer.Step]) -> Void
    ) {
        look(played, steps)
        guard depth > 0 else { return }
        for step in PlayedSynchronizer.Step.allCases {
            var next = played
            guard next.take(step) else { continue }
            everySequence(of: depth - 1, next, steps + [step], look)
        }
    }

    @Test(
        "in every order of events each consumer is served or gets an error, and nothing is left over",
        arguments: [false, true])
    func everyOrder(isLimited: Bool) {
        var count = 0
        var failures: [[PlayedSynchronizer.Step]] = []
        everySequence(of: 6, PlayedSynchronizer(isLimited: isLimited)) { played, steps in
            count += 1
            var played = played
            played.settle()
            let reached = Set(played.reached())
            var isRight = reached == Set(played.consumers.map(\.id)) && !played.synchronizer.isSearching
            // Each train has a consumer.
            isRight = isRight && Set(played.follows.values) == Set(played.consumers.map(\.train))
            isRight = isRight && Set(played.follows.values).count == played.follows.count
            for end in played.ends {
                switch end {
                case .timedOut(.synchronization, after: PlayedSynchronizer.limit):
                    isRight = isRight && steps.contains(.time) && isLimited
                case .syncLost: isRight = isRight && steps.contains(.reset)
                default: isRight = false
                }
            }
            isRight = isRight && played.consumers.count + played.ends.count + played.left == played.followed
            while played.take(.endOldest) { played.settle() }
            isRight = isRight && played.follows.isEmpty && !played.synchronizer.isSearching
            isRight = isRight && !played.synchronizer.isAsking && !played.synchronizer.hasLeftovers
            if !isRight { failures.append(steps) }
        }
        #expect(count > 10_000)
        let shortest = failures.min { $0.count < $1.count }
        #expect(shortest == nil, "and \(failures.count) more")
    }

    @Test("searches without a limit take turns")
    func unlimitedSearchesTakeTurns() {
        var played = PlayedSynchronizer(isLimited: false)
        func steps(_ steps: PlayedSynchronizer.Step...) -> Bool { steps.allSatisfy { played.take($0) } }
        #expect(steps(.followFirst, .execute, .deliver))
        #expect(!steps(.time), "no other train waits")
        #expect(steps(.followSecond, .time, .execute, .deliver, .deliver, .execute))
        #expect(played.searched == PlayedSynchronizer.train(2))
        #expect(steps(.deliver, .time, .execute, .deliver, .deliver, .execute))
        #expect(played.searched == PlayedSynchronizer.train(1))
        played.settle()
        #expect(Set(played.follows.values) == [PlayedSynchronizer.train(1), PlayedSynchronizer.train(2)])
        #expect(played.ends.isEmpty)
    }

    @Test("a search whose end the controller does not report blocks the next one for 2 s")
    func unreportedEndBlocksForTwoSeconds() {
        var synchronizer = PeriodicSynchronizer()
        let first = synchronizer.follow(PlayedSynchronizer.train(1), PeriodicSyncOptions())
        _ = synchronizer.nextCommand(isPaused: false, at: .zero)
        synchronizer.answered(.done([]), isRecovering: false, at: .zero)
        _ = synchronizer.follow(PlayedSynchronizer.train(2), PeriodicSyncOptions())
        synchronizer.end(first)
        let cancel = synchronizer.nextCommand(isPaused: false, at: .zero)
        #expect(cancel?.packet.opcode == .lePeriodicAdvertisingCreateSyncCancel)
        synchronizer.answered(.done([]), isRecovering: false, at: .zero)
        let blocked = synchronizer.nextCommand(isPaused: false, at: .zero)
        #expect(blocked == nil && synchronizer.deadline == .zero + .seconds(2))
        synchronizer.expire(at: .zero + .seconds(2))
        let next = synchronizer.nextCommand(isPaused: false, at: .zero + .seconds(2))
        #expect(next?.packet.opcode == .lePeriodicAdvertisingCreateSync)
        #expect(synchronizer.deadline == .zero + .seconds(22))
        synchronizer.answered(.done([]), isRecovering: false, at: .zero + .seconds(2))
        // The late outcome of the first search is not that of the second.
        synchronizer.established(
            LEPeriodicAdvertisingSyncEstablished(
                status: .operationCancelledByHost,
                train: PeriodicTrain(
                    sync: SyncHandle(rawValue: 0), sid: 0, advertiser: HCIAddress(0, type: .public),
                    phy: .le1M, interval: ConnectionInterval(rawValue: 0))))
        #expect(synchronizer.isSearching && synchronizer.deadline == .zero + .seconds(22))
        while let event = synchronizer.nextEvent() {
            if case .ended(_, let error) = event { Issue.record("ended: \(error)") }
        }
    }

    @Test func pausedSynchronizerStartsNoSearch() {
        var synchronizer = PeriodicSynchronizer()
        _ = synchronizer.follow(PlayedSynchronizer.train(1), PeriodicSyncOptions())
        let paused = synchronizer.nextCommand(isPaused: true, at: .zero)
        #expect(paused == nil && !synchronizer.isSearching)
        let next = synchronizer.nextCommand(isPaused: false, at: .zero)
        #expect(next?.packet.opcode == .lePeriodicAdvertisingCreateSync && synchronizer.isSearching)
    }

    @Test("a train that is not searched for any more is not delivered, and is terminated")
    func unwantedTrainIsTerminated() {
        var synchronizer = PeriodicSynchronizer()
        let id = synchronizer.follow(PlayedSynchronizer.train(1), PeriodicSyncOptions())
        let command = synchronizer.nextCommand(isPaused: false, at: .zero)
        #expect(command != nil)
        synchronizer.answered(.done([]), isRecovering: false, at: .zero)
        func established(_ set: UInt8, _ handle: UInt16) -> LEPeriodicAdvertisingSyncEstablished {
            LEPeriodicAdvertisingSyncEstablished(
                status: .success,
                train: PeriodicTrain(
                    sync: SyncHandle(rawValue: handle), sid: set,
                    advertiser: HCIAddress(PlayedSynchronizer.train(set).advertiser), phy: .le1M,
                    interval: ConnectionInterval(rawValue: 80)))
        }
        synchronizer.established(established(2, 7))
        #expect(synchronizer.isSearching)
        synchronizer.established(established(1, 8))
        #expect(!synchronizer.isSearching)
        var reached: [PeriodicSyncID] = []
        for handle: UInt16 in [7, 8] {
            let report = LEPeriodicAdvertisingReport(
                sync: SyncHandle(rawValue: handle), rssi: -50, dataStatus: .complete, data: [1])
            synchronizer.receive(report, at: .zero) { id, _ in reached.append(id) }
        }
        #expect(reached == [id])
        let next = synchronizer.nextCommand(isPaused: false, at: .zero)
        #expect(next?.packet == LEPeriodicAdvertisingTerminateSync(sync: SyncHandle(rawValue: 7)).packet)
    }

    @Test("a search that is refused or not answered fails with that error")
    func refusedOrSilentSearchFails() {
        for (answer, error) in [
            (CommandAnswer.refused(.memoryCapacityExceeded), HCIStatus.memoryCapacityExceeded),
            (.refused(.commandDisallowed), .commandDisallowed), (.silent, nil),
        ] {
            var synchronizer = PeriodicSynchronizer()
            let id = synchronizer.follow(PlayedSynchronizer.train(1), PeriodicSyncOptions())
            _ = synchronizer.nextCommand(isPaused: false, at: .zero)
            synchronizer.answered(answer, isRecovering: false, at: .zero)
            // A search that may have started, because its command was not answered, is cancelled.
            let cancel = synchronizer.nextCommand(isPaused: false, at: .zero)
            #expect((cancel != nil) == (answer == .silent))
            if cancel != nil { synchronizer.answered(.silent, isRecovering: false, at: .zero) }
            var ends: [PeriodicSyncID: BLEError] = [:]
            while let event = synchronizer.nextEvent() {
                if case .ended(let id, let error) = event { ends[id] = error }
            }
            let command = HCIOpcode.lePeriodicAdvertisingCreateSync
            #expect(
                ends == [id: error.map { .hci($0, command: command) } ?? .controllerSilent(command: command)])
            #expect(!synchronizer.isSearching)
        }
    }
}
