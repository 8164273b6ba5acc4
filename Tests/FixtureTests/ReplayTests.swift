import BLECore
import Recordings
import Testing

/// Replays recorded clients to this library's server, which must answer as the recorded server did, octet by
/// octet.
struct ReplayTests {
    @Test(arguments: ReplayCase.fixtures)
    func replayOfFixturesShowsOnlyKnownDifferences(_ play: ReplayCase) throws { try check(play) }

    @Test(.enabled(if: RecordedFile.Folder.captures.isThere), arguments: ReplayCase.captures)
    func replayOfCapturesShowsOnlyKnownDifferences(_ play: ReplayCase) throws { try check(play) }

    /// Checks that no recorded dialogue is omitted.
    @Test(arguments: RecordedFile.Folder.fixtures.files + RecordedFile.Folder.captures.files)
    func everyRecordedServerIsReplayed(file: RecordedFile) throws {
        let replayed = (ReplayCase.fixtures + ReplayCase.captures).filter { $0.file == file }.map(\.server)
        #expect(Set(RecordedDialogue.all(in: try file.packets).map(\.server)) == Set(replayed))
    }

    private func check(_ play: ReplayCase) throws {
        let replay = try play.replay()
        let differences = replay.differences.map { difference in
            ReplayCase.Difference(
                asked: difference.asked.hex, recorded: difference.recorded.hex, ours: difference.ours.hex)
        }
        #expect(differences == play.differences.map(\.difference))
        #expect(replay.unsubscribed == play.unsubscribed)
        #expect(replay.answers == play.answers)
        #expect(replay.notifications == play.notifications)
        #expect(replay.unanswered == play.unanswered)
    }
}
