import DequeModule

/// A set that forgets its oldest members when it is full.
struct BoundedSet<Element: Hashable & Sendable>: Sendable {
    let limit: Int
    private var members: Set<Element> = []
    private var order: Deque<Element> = []

    init(limit: Int) { self.limit = limit }

    /// Adds a member; false when it is one already.
    mutating func insert(_ element: Element) -> Bool {
        guard members.insert(element).inserted else { return false }
        order.append(element)
        if order.count > limit, let oldest = order.popFirst() { members.remove(oldest) }
        return true
    }
}
