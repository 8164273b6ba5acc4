import BLECore
import Testing

@testable import HCISocket

struct ReadingPaceTests {
    private func at(_ microseconds: Int) -> Instant { .zero + .microseconds(microseconds) }

    @Test("infrequent reports are read immediately")
    func infrequentReportsAreReadImmediately() {
        var pace = ReadingPace()
        for number in 0..<10 { #expect(pace.read(1, at: at(number * 1000)) == nil) }
    }

    @Test("frequent reports are gathered while several arrive together")
    func frequentReportsAreGathered() {
        var pace = ReadingPace()
        #expect(pace.read(1, at: at(0)) == nil)
        #expect(pace.read(1, at: at(500)) == at(10_500))
        #expect(pace.read(4, at: at(10_500)) == at(20_500))
        // A single report after a wait ends the gathering. The next gap of less than 1 ms begins it again.
        #expect(pace.read(1, at: at(20_500)) == nil)
        #expect(pace.read(1, at: at(29_000)) == nil)
        #expect(pace.read(1, at: at(29_999)) == at(39_999))
    }

    @Test("full batches are read without a pause")
    func fullBatchesAreReadWithoutPause() {
        var pace = ReadingPace()
        #expect(pace.read(31, at: at(0)) == nil)
        #expect(pace.read(32, at: at(100)) == nil)
        #expect(pace.read(31, at: at(200)) == at(10_200))
        #expect(pace.read(32, at: at(10_200)) == nil)
    }

    @Test("reports do not wait while other traffic passes")
    func otherTrafficPreventsGathering() {
        var pace = ReadingPace()
        #expect(pace.read(1, at: at(0)) == nil)
        pace.isBusy(at: at(100))
        #expect(pace.read(1, at: at(500)) == nil)
        #expect(pace.read(1, at: at(100_099)) == nil)
        #expect(pace.read(1, at: at(100_100)) == at(110_100))
    }
}
