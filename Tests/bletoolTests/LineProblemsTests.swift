import BLECore
import Testing

@testable import bletool

struct LineProblemsTests {
    private static let start = Instant.zero + .seconds(5)
    private static func time(_ milliseconds: Int) -> Instant { start + .milliseconds(milliseconds) }

    @Test func eightLinesInSecondAreReportedAndOthersCounted() {
        var problems = LineProblems()
        let reported = (0..<10).map { problems.admit(at: Self.time($0)) }
        #expect(reported == Array(repeating: true, count: 8) + [false, false])
        let rests = [999, 1000, 1001].map { problems.rest(at: Self.time($0)) }
        #expect(rests == [nil, "2 more lines are no values", nil])
    }

    @Test func endOfProgramReportsRestAtOnce() {
        var problems = LineProblems()
        let reported = (0..<9).count { _ in problems.admit(at: Self.start) }
        #expect(reported == 8)
        let rests = [problems.rest(at: nil), problems.rest(at: nil)]
        #expect(rests == ["1 more line is no value", nil])
    }

    @Test func nextSecondHasItsOwnReports() {
        var problems = LineProblems()
        let reported = [0, 1, 2, 3, 4, 5, 6, 7, 8, 1000, 1999].map { problems.admit(at: Self.time($0)) }
        #expect(reported.suffix(4) == [true, false, true, true])
    }
}
