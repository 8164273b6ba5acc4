/// A dictionary of bounded size: beyond `limit` entries, the least recently used one is evicted. Using,
/// adding and removing an entry takes constant time, and the memory is that of the most entries that there
/// were.
package struct RecencyTable<Key: Hashable, Value> {
    /// An entry of the list that leads from the most to the least recently used entry.
    fileprivate struct Entry {
        var key: Key
        var value: Value
        var newer: Int32
        var older: Int32
    }

    private static var none: Int32 { -1 }

    let limit: Int
    private var places: [Key: Int32] = [:]
    private var entries: [Entry] = []
    private var newest = none
    private var oldest = none

    /// Creates a table of at most `limit` entries, at least 1.
    package init(limit: Int) { self.limit = max(1, min(limit, Int(Int32.max))) }

    package var count: Int { entries.count }

    /// The value under `key`, whose place in the order of use does not change.
    subscript(peek key: Key) -> Value? { places[key].map { entries[Int($0)].value } }

    /// Calls `change` with the value under `key`, which is `first` for a new entry, and makes it the most
    /// recently used one. Returns the result of `change`, and the value that was evicted to make room.
    package mutating func use<Result>(
        _ key: Key, first: @autoclosure () -> Value, _ change: (inout Value) -> Result
    ) -> (result: Result, evicted: Value?) {
        var evicted: Value?
        let place: Int32
        if let known = places[key] {
            place = known
            if place != newest {
                takeOut(place)
                putFirst(place)
            }
        } else if entries.count < limit {
            place = Int32(entries.count)
            entries.append(Entry(key: key, value: first(), newer: Self.none, older: Self.none))
            places[key] = place
            putFirst(place)
        } else {
            place = oldest
            takeOut(place)
            places.removeValue(forKey: entries[Int(place)].key)
            evicted = entries[Int(place)].value
            entries[Int(place)] = Entry(key: key, value: first(), newer: Self.none, older: Self.none)
            places[key] = place
            putFirst(place)
        }
        return (change(&entries[Int(place)].value), evicted)
    }

    /// Returns the most recently used values, at most `count`, the latest first.
    package func newest(_ count: Int) -> [Value] {
        var values: [Value] = []
        var place = newest
        while place != Self.none, values.count < count {
            values.append(entries[Int(place)].value)
            place = entries[Int(place)].older
        }
        return values
    }

    /// Removes the least recently used entry, and returns its value.
    mutating func removeOldest() -> Value? {
        guard oldest != Self.none else { return nil }
        let place = oldest
        takeOut(place)
        places.removeValue(forKey: entries[Int(place)].key)
        let value = entries[Int(place)].value
        // The last entry fills the gap.
        let last = Int32(entries.count - 1)
        let moved = entries.removeLast()
        if place != last {
            entries[Int(place)] = moved
            places[moved.key] = place
            link(moved.newer, older: place)
            link(moved.older, newer: place)
        }
        return value
    }

    private mutating func takeOut(_ place: Int32) {
        let entry = entries[Int(place)]
        link(entry.newer, older: entry.older)
        link(entry.older, newer: entry.newer)
    }

    private mutating func putFirst(_ place: Int32) {
        entries[Int(place)].newer = Self.none
        entries[Int(place)].older = newest
        link(newest, newer: place)
        newest = place
        if oldest == Self.none { oldest = place }
    }

    /// Sets the entry that is older than this one; if there is no entry, sets the newest one.
    private mutating func link(_ place: Int32, older: Int32) {
        if place == Self.none { newest = older } else { entries[Int(place)].older = older }
    }

    /// Sets the entry that is newer than this one; if there is no entry, sets the oldest one.
    private mutating func link(_ place: Int32, newer: Int32) {
        if place == Self.none { oldest = newer } else { entries[Int(place)].newer = newer }
    }
}

extension RecencyTable: Sendable where Key: Sendable, Value: Sendable {}
extension RecencyTable.Entry: Sendable where Key: Sendable, Value: Sendable {}
