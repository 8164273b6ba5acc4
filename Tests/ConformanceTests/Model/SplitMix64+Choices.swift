import BLECore

extension SplitMix64 {
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// Returns true in one of `times` cases.
    mutating func one(in times: Int) -> Bool { number(1...times) == 1 }

    mutating func element<Element>(_ list: [Element]) -> Element { list[number(0...(list.count - 1))] }
}
