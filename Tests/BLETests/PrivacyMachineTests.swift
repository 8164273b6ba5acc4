import BLECore
import HCI
import Testing

@testable import BLE

/// The privacy machine with a controller that refuses, is silent or does not resolve, and a radio that may not stop.
struct PrivacyMachineTests {
    /// Plays every sequence of up to `depth` steps, and calls `look` at the end of each.
    private func everySequence(
        of depth: Int, _ played: PlayedPrivacy, _ steps: [PlayedPrivacy.Step] = [],
        _ look: (PlayedPrivacy, [PlayedPrivacy.Step]) -> Void
    ) {
        look(played, steps)
        guard depth > 0 else { return }
        for step in PlayedPrivacy.Step.allCases {
            var next = played
            guard next.take(step) else { continue }
            everySequence(of: depth - 1, next, steps + [step], look)
        }
    }

    /// The list has room for two peers, one or none, or for fewer than the controller reports.
    @Test(
        "in every order of events the controller gets the right keys and addresses, and the radio resumes",
        arguments: [
            (2, 2, []), (1, 1, []), (1, 2, []), (0, 2, []), (0, 0, []),
            // The contents of the list are unknown; the list is in use.
            (2, 2, [.firstPeer, .rest, .executeSilently]),
            (1, 2, [.firstPeer, .rest, .execute, .execute, .execute, .secondPeer]),
        ] as [(Int, Int, [PlayedPrivacy.Step])])
    func everyOrder(_ room: Int, _ claimed: Int, _ before: [PlayedPrivacy.Step]) {
        var count = 0
        var failures: [[PlayedPrivacy.Step]] = []
        var first = PlayedPrivacy(room: room, claimed: claimed)
        for step in before {
            let isTaken = first.take(step)
            #expect(isTaken)
        }
        everySequence(of: 5, first) { played, steps in
            count += 1
            var played = played
            played.settle(searchesFirst: count.isMultiple(of: 2))
            let privacy = played.privacy
            var isRight = played.faults.isEmpty && !privacy.isPausing
            isRight = isRight && privacy.own == played.address && played.address != nil
            isRight = isRight && played.age < PlayedPrivacy.lifetime
            isRight = isRight && privacy.knowsHiddenPeers == !played.peers.isEmpty
            let known = [1, 2].filter { privacy.controllerHasKey(of: PlayedPrivacy.peer($0)) }
            if played.hasGivenUp {
                isRight = isRight && known.isEmpty
            } else {
                // Those that paired last come first.
                let wanted = Array(played.peers.sorted().suffix(min(room, claimed)))
                isRight = isRight && known == wanted
                let keys = wanted.map {
                    (PlayedPrivacy.peer($0), PeerKeyList.Keys(peer: UInt128($0), local: 7))
                }
                isRight = isRight && played.list == Dictionary(uniqueKeysWithValues: keys)
                isRight = isRight && played.isResolving == !wanted.isEmpty
            }
            if !isRight { failures.append(steps) }
        }
        #expect(count > 5_000)
        let shortest = failures.min { $0.count < $1.count }
        #expect(shortest == nil, "and \(failures.count) more")
    }

    @Test(
        "the host helps after 3 s unless the controller has resolved a peer"
    )
    func hostSearchesWhenControllerDoesNotResolve() {
        for hasResolved in [false, true] {
            var played = PlayedPrivacy(room: 1, claimed: 1)
            _ = played.take(.firstPeer)
            played.settle()
            var privacy = played.privacy
            privacy.trustController(toFind: PlayedPrivacy.peer(2), at: played.now)
            #expect(privacy.deadline == Instant.zero + PlayedPrivacy.lifetime)
            privacy.trustController(toFind: PlayedPrivacy.peer(1), at: played.now)
            #expect(privacy.deadline == played.now + .seconds(3))
            if hasResolved { privacy.controllerResolved() }
            privacy.expire(at: played.now + .seconds(3))
            let event = privacy.nextEvent()
            if case .trustEnded = event {
                #expect(!hasResolved)
            } else {
                #expect(hasResolved && event == nil)
            }
            #expect(privacy.deadline == Instant.zero + PlayedPrivacy.lifetime)
        }
    }
}
