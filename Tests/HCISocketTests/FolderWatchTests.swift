import Testing

@testable import HCISocket

struct FolderWatchTests {
    /// Returns an event as the kernel writes it: number, mask, cookie, length and name.
    private func event(_ number: UInt8, _ mask: UInt32, _ name: String, padding: Int = 3) -> [UInt8] {
        let octets = Array(name.utf8) + [UInt8](repeating: 0, count: padding)
        return [number, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: mask >> (8 * $0)) }
            + [0, 0, 0, 0, UInt8(octets.count), 0, 0, 0] + octets
    }

    @Test("consecutive events are parsed in order")
    func parsesConsecutiveEvents() {
        // IN_MOVED_TO, IN_DELETE, and IN_IGNORED of the folder itself, which has no name.
        let octets =
            event(1, 0x80, "a.bond") + event(2, 0x200, "b", padding: 15) + event(1, 0x8000, "", padding: 0)
        #expect(
            FolderWatch.events(octets[...]) == [
                .changed(folder: 1, name: "a.bond"), .changed(folder: 2, name: "b"),
                .gone(folder: 1),
            ])
        // IN_Q_OVERFLOW has the number -1.
        var lost = event(255, 0x4000, "", padding: 0)
        lost.replaceSubrange(0..<4, with: [255, 255, 255, 255])
        #expect(FolderWatch.events(lost[...]) == [.lost])
    }

    @Test("events truncated at any octet are parsed safely")
    func truncatedEventsAreParsedSafely() {
        let whole = event(1, 0x80, "a.bond") + event(1, 0x200, "b")
        for count in whole.indices {
            #expect(FolderWatch.events(whole[..<count]).count <= 2)
        }
        #expect(FolderWatch.events(whole[..<16]).isEmpty)
    }
}
