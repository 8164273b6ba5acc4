/// Values of links, in the order in which the links were made.
struct LinkMap<Value> {
    /// The identifiers, in ascending order, and the value of each.
    private var ids: [LinkID] = []
    private(set) var values: [Value] = []

    /// The value of the link; nil when it has none.
    subscript(id: LinkID) -> Value? { index(of: id).map { values[$0] } }

    /// Adds the value of a link that was made after all others.
    mutating func append(_ value: Value, of id: LinkID) {
        assert(
            ids.last.map { $0.number < id.number } ?? true, "links are added in the order of their numbers")
        ids.append(id)
        values.append(value)
    }

    /// Removes and returns the value of a link; nil when it has none.
    @discardableResult
    mutating func remove(_ id: LinkID) -> Value? {
        guard let index = index(of: id) else { return nil }
        ids.remove(at: index)
        return values.remove(at: index)
    }

    private func index(of id: LinkID) -> Int? {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle].number < id.number { low = middle + 1 } else { high = middle }
        }
        return low < ids.count && ids[low] == id ? low : nil
    }
}
