import BLECore
import HCI
import Testing

@testable import BLE

/// The privacy machine before a controller that refuses, is silent, or does not resolve, and a radio that may not rest.
struct PrivacyMachineTests {
    /// Takes every sequence of `depth` steps that there is; what a test looks at ends with each.
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

    /// The list has room for two peers, for one, or for less than the controller says.
    @Test(
        "whatever happens in whatever order, the controller knows what it should, and the radio goes on",
        arguments: [(2, 2), (1, 1), (1, 2), (0, 2), (0, 0)])
    func everyOrder(_ room: Int, _ claimed: Int) {
        var count = 0
        var failures: [[PlayedPrivacy.Step]] = []
        everySequence(of: 6, PlayedPrivacy(room: room, claimed: claimed)) { played, steps in
            count += 1
            var played = played
            played.settle()
            let privacy = played.privacy
            var isRight = played.faults.isEmpty && !privacy.isPausing
            isRight = isRight && privacy.own == played.address && played.address != nil
            isRight = isRight && played.age < PlayedPrivacy.lifetime
            isRight = isRight && privacy.knowsHiddenPeers == !played.peers.isEmpty
            let known = [1, 2].filter { privacy.controllerKnows(PlayedPrivacy.peer($0)) }
            if played.hasGivenUp {
                isRight = isRight && known.isEmpty
            } else {
                // Those that paired last come first.
                let wanted = Array(played.peers.sorted().suffix(min(room, claimed)))
                isRight = isRight && known == wanted
                isRight = isRight && Set(played.list.keys) == Set(wanted.map(PlayedPrivacy.peer))
                isRight = isRight && played.isResolving == !wanted.isEmpty
            }
            if !isRight { failures.append(steps) }
        }
        #expect(count > 10_000)
        let shortest = failures.min { $0.count < $1.count }
        #expect(shortest == nil, "and \(failures.count) more")
    }
}
