import Testing

@testable import bletool

struct LinesInPipeTests {
    private func lines(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    @Test(
        "the lines of the unread octets are returned, the first of them as a whole",
        arguments: [(0, 0), (1, 1), (3, 1), (4, 2), (5, 2), (6, 3), (9, 3), (20, 3)])
    func unreadOctetsAreWholeLines(octets: Int, count: Int) {
        var pipe = LinesInPipe(capacity: 65_536)
        let all = lines("abc\n", "d\n", "ef\n")
        for line in all { pipe.append(line) }
        #expect(Array(pipe.unread(octets)) == all.suffix(count))
    }

    @Test(
        "octets of a line that is being written belong to no other line",
        arguments: [(0, 0), (2, 0), (3, 1), (5, 1), (6, 2), (9, 2)])
    func partOfNextLineIsNotCounted(octets: Int, count: Int) {
        var pipe = LinesInPipe(capacity: 65_536)
        let all = lines("abc\n", "de\n")
        for line in all { pipe.append(line) }
        pipe.partOfNext = 2
        #expect(Array(pipe.unread(octets)) == all.suffix(count))
    }

    @Test("lines that cannot be in a pipe any more are not kept, and all others are")
    func linesOfFullPipeAreKept() {
        var pipe = LinesInPipe(capacity: 65_536)
        let all = (0..<100_000).map { Array("\($0)\n".utf8) }
        for line in all { pipe.append(line) }
        let unread = Array(pipe.unread(65_536))
        #expect(unread == Array(all.suffix(unread.count)))
        #expect(unread.joined().count >= 65_536 && unread.dropFirst().joined().count < 65_536)
        #expect(Array(pipe.unread(1_000_000)) == unread)
    }
}
