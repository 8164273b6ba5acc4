import BLECore
import Testing

@testable import BLE

struct RecencyTableTests {
    @Test("the least recently used entry is evicted first")
    func evictsLeastRecentlyUsed() {
        var table = RecencyTable<Int, String>(limit: 3)
        for key in [1, 2, 3] { #expect(table.use(key, first: "\(key)") { $0 }.evicted == nil) }
        // 1 is used again, so 2 is evicted first, then 3.
        #expect(table.use(1, first: "never") { $0 }.result == "1")
        #expect(table.use(4, first: "4") { $0 }.evicted == "2")
        #expect(table[peek: 3] == "3")
        #expect(table.use(5, first: "5") { $0 }.evicted == "3")
        #expect(table.count == 3)
        #expect(table[peek: 2] == nil)
        #expect(table.newest(2) == ["5", "4"])
        #expect(table.newest(9) == ["5", "4", "1"])
        #expect(table.removeOldest() == "1")
        #expect(table.removeOldest() == "4")
        #expect(table.removeOldest() == "5")
        #expect(table.removeOldest() == nil)
        #expect(table.use(6, first: "6") { $0 }.evicted == nil)
        #expect(table.count == 1)
    }

    @Test("the table matches a plain list in random sequences", arguments: 1...8)
    func matchesListModel(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limit = Int.random(in: 1...12, using: &random)
        var table = RecencyTable<Int, Int>(limit: limit)
        var row: [(key: Int, value: Int)] = []
        for _ in 0..<5000 {
            if Int.random(in: 0..<8, using: &random) == 0 {
                let expected = row.isEmpty ? nil : row.removeFirst().value
                #expect(table.removeOldest() == expected)
            } else {
                let key = Int.random(in: 0..<24, using: &random)
                let known = row.firstIndex { $0.key == key }
                let value = (known.map { row.remove(at: $0).value } ?? 0) + 1
                let expected = known == nil && row.count == limit ? row.removeFirst().value : nil
                row.append((key, value))
                let used = table.use(key, first: 0) { count in
                    count += 1
                    return count
                }
                #expect(used.result == value)
                #expect(used.evicted == expected)
            }
            #expect(table.count == row.count)
            if let probe = row.first { #expect(table[peek: probe.key] == probe.value) }
        }
    }
}
