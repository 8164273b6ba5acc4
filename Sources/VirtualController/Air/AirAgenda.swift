import BLECore
import DequeModule
import HeapModule

/// The controllers of an air that have pending work, so that the air does not have to check all others.
struct AirAgenda: Sendable {
    private struct Entry: Comparable, Sendable {
        var due: Instant
        var id: VirtualController.ID

        static func < (left: Entry, right: Entry) -> Bool { (left.due, left.id) < (right.due, right.id) }
    }

    /// The deadlines in order. Entries that are not in `deadlines` are obsolete; the first entry is always
    /// valid.
    private var heap = Heap<Entry>()
    private var deadlines: [VirtualController.ID: Instant] = [:]
    /// The controllers that receive broadcast signals, oldest first.
    private(set) var listeners: [VirtualController.ID] = []
    /// The controllers that have signals to send and, in `talkers`, those that have packets for their hosts,
    /// in turn.
    private var senders = Turns()
    private var talkers = Turns()

    /// A queue that holds each controller at most once.
    private struct Turns: Sendable {
        private var queue: Deque<VirtualController.ID> = []
        private var members: Set<VirtualController.ID> = []

        mutating func append(_ id: VirtualController.ID) {
            if members.insert(id).inserted { queue.append(id) }
        }

        mutating func next() -> VirtualController.ID? {
            let id = queue.popFirst()
            if let id { members.remove(id) }
            return id
        }
    }

    /// The earliest deadline of all controllers.
    var deadline: Instant? { heap.min?.due }

    /// Removes and returns the controllers whose deadline is not after `now`, ordered by deadline. The caller
    /// must call `note` for them afterwards.
    mutating func takeDue(by now: Instant) -> [VirtualController.ID] {
        var due: [VirtualController.ID] = []
        while let first = heap.min, first.due <= now {
            deadlines[first.id] = nil
            due.append(first.id)
            prune()
        }
        return due
    }

    mutating func nextSender() -> VirtualController.ID? { senders.next() }
    mutating func nextTalker() -> VirtualController.ID? { talkers.next() }

    /// Updates the needs of a controller.
    mutating func note(_ id: VirtualController.ID, _ needs: VirtualController.Needs) {
        let due = needs.deadline
        if deadlines[id] != due {
            deadlines[id] = due
            if let due { heap.insert(Entry(due: due, id: id)) }
            prune()
        }
        if needs.toSend { senders.append(id) }
        if needs.toReport { talkers.append(id) }
        listen(id, needs.toListen)
    }

    mutating func forget(_ id: VirtualController.ID) {
        deadlines[id] = nil
        prune()
        listen(id, false)
    }

    private mutating func listen(_ id: VirtualController.ID, _ listens: Bool) {
        let place = listeners.partition(of: id) { $0 }
        let isThere = place < listeners.count && listeners[place] == id
        guard isThere != listens else { return }
        if listens {
            listeners.insert(id, at: place)
        } else {
            listeners.remove(at: place)
        }
    }

    /// Removes obsolete entries at the head, and all obsolete entries when there are too many.
    private mutating func prune() {
        while let first = heap.min, deadlines[first.id] != first.due { heap.removeMin() }
        guard heap.count > 64 + 4 * deadlines.count else { return }
        // In any order: the heap sorts them.
        heap = Heap(deadlines.map { Entry(due: $0.value, id: $0.key) })
    }
}

extension Array {
    /// Returns the index of the first element that is not before `id`, in an array ordered by identifier.
    func partition(
        of id: VirtualController.ID, _ identifier: (Element) -> VirtualController.ID
    ) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if identifier(self[middle]) < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
