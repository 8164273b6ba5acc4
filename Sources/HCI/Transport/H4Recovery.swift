import BLECore

/// Finds the packets of a byte stream again after they were lost: in whatever comes, it looks for the octets
/// of the Command Complete event that answers Reset, `04 0e 04 nn 03 0c 00`. Behind them a packet begins.
///
/// Data that happens to contain them cannot come then: a controller that was reset has no links.
package struct H4Recovery: Sendable {
    private static let length = 7
    private var latest: [UInt8] = []

    /// A search at any place of a stream.
    package init() {}

    /// Takes the stream's next octets; how many of them it takes to the end of the answer, or nil when that
    /// is not among them.
    package mutating func feed(_ chunk: Span<UInt8>) -> Int? {
        for index in 0..<chunk.count {
            if latest.count == Self.length { latest.removeFirst() }
            latest.append(chunk[index])
            if isAnswer {
                latest.removeAll()
                return index + 1
            }
        }
        return nil
    }

    private var isAnswer: Bool {
        // The octet that may be anything says how many commands the controller takes.
        latest.count == Self.length && latest.prefix(3) == [4, 0x0e, 4] && latest.suffix(3) == [3, 0x0c, 0]
    }
}
