import BLECore
import HCI

/// Decides which of the wanted advertisements are on air, on which of the controller's sets.
///
/// ```swift
/// var schedule = AdvertisingSchedule()
/// schedule.use(sets, limitsTime: true)
/// schedule.add(id, request, maximumLinks: 1)
/// while let step = schedule.next(at: now) { /* do it, then tell: began, changed, ended */ }
/// // Run `expire` at `deadline`.
/// ```
/// A value without I/O: its driver takes one step at a time, has the controller do it and tells how that
/// went, and what the controller tells by itself.
///
/// An advertisement is *due* while it is wanted and, when centrals can connect, a link is free. The first of
/// the due ones, as many as there are sets, are on air. When there are more, those that have been on the
/// longest make room for those that wait, every `slice`; those with a periodic train do not, since whoever
/// follows it would lose it.
struct AdvertisingSchedule {
    /// How long an advertisement is on air until one that waits takes its place: as long as the kernel lets
    /// its own take turns. Each turn begins with an event at once, whatever the interval.
    static let slice = Duration.seconds(2)

    /// A wanted advertisement.
    struct Entry {
        let id: AdvertisingID
        var request: AdvertisingRequest
        var maximumLinks: Int
        /// Counts what it was changed to.
        var revision = 0
        /// Whether it has been on air.
        var hasBegun = false
        /// When its time is over, once it has begun.
        var end: Instant?
        /// How many of its events are left, where they are counted.
        var eventsLeft: UInt8?
        /// How often in a row the controller has refused it, and when it is asked again.
        var refusals = 0
        var retry: Instant?
        /// How often in a row its set was not there.
        var losses = 0

        /// Whether it takes no turns.
        var keepsItsSet: Bool { request.periodic != nil }

        /// Whether it should be on air beside that many links.
        func isDue(_ links: Int) -> Bool {
            retry == nil && (!request.isConnectable || links < maximumLinks)
        }
    }

    /// What the radio has on a set.
    struct Occupant {
        enum Phase {
            /// It gets its parameters and data.
            case preparing
            /// It was told to begin and has not yet answered.
            case starting
            case on
            case off
            /// The controller has not answered: it may be on air or not.
            case doubtful
        }

        let owner: AdvertisingID
        var request: AdvertisingRequest
        var revision: Int
        var phase = Phase.preparing
        /// Whether the controller ends it by itself when its time is over.
        var endsItself = false
        /// What was on air before it was changed to what now begins.
        var previous: AdvertisingRequest?
    }

    /// The wanted ones, in the order of their turns.
    var entries: [Entry] = []
    var occupants: [AdvertisingHandle: Occupant] = [:]
    /// How many centrals are connected.
    var links = 0
    /// The sets that may be used, in the order in which they are.
    private(set) var handles: [AdvertisingHandle] = []
    /// Those of them that somebody else has.
    private var foreign: Set<AdvertisingHandle> = []
    /// How many may be used at once.
    private(set) var setCount = 0
    /// As many, or fewer when the controller says so.
    var capacity = 0
    /// Whether the controller counts time and events.
    private(set) var limitsTime = false
    /// When the next turn begins, while some wait for theirs.
    var turn: Instant?
    /// Whether the radio pauses: sets go off the air, and none is begun.
    var isHeld = false
    /// Until when nothing is begun.
    var hold: Instant?
    /// When others last took sets off the air, to bound how often that is undone.
    var interruptions: [Instant] = []

    /// Uses `count` of these sets, or all of them; one with the legacy commands. `limitsTime` says whether the
    /// controller ends a set by itself after a time or number of events. The radio must have nothing of ours.
    mutating func use(_ sets: [AdvertisingHandle], count: Int? = nil, limitsTime: Bool) {
        handles = sets
        setCount = count ?? sets.count
        forgetLimits()
        self.limitsTime = limitsTime
    }

    /// What the controller and others left when there were other advertisements need not be so now.
    private mutating func forgetLimits() {
        capacity = setCount
        foreign = []
    }

    // MARK: What is wanted

    /// Whether nothing is wanted, and the radio has nothing.
    var isEmpty: Bool { entries.isEmpty && occupants.isEmpty }

    /// Wants an advertisement, after all others.
    mutating func add(_ id: AdvertisingID, _ request: AdvertisingRequest, maximumLinks: Int) {
        forgetLimits()
        entries.append(
            Entry(
                id: id, request: request, maximumLinks: maximumLinks, eventsLeft: request.maximumEvents))
    }

    /// Wants it no more; false when it was not wanted.
    @discardableResult
    mutating func remove(_ id: AdvertisingID) -> Bool {
        guard let index = index(of: id) else { return false }
        forgetLimits()
        entries.remove(at: index)
        return true
    }

    /// Wants it otherwise. A time limit that differs counts from now on. False when it is not wanted at all.
    mutating func update(_ id: AdvertisingID, to request: AdvertisingRequest, at now: Instant) -> Bool {
        guard let index = index(of: id) else { return false }
        let old = entries[index].request
        entries[index].request = request
        entries[index].revision += 1
        entries[index].retry = nil
        if request.timeLimit != old.timeLimit, entries[index].hasBegun {
            entries[index].end = request.timeLimit.map { now + $0 }
        }
        if request.maximumEvents != old.maximumEvents { entries[index].eventsLeft = request.maximumEvents }
        return true
    }

    /// Where an advertisement is among the wanted ones.
    func index(of id: AdvertisingID) -> Int? { entries.firstIndex { $0.id == id } }

    /// Whether an advertisement has been on air.
    func hasBegun(_ id: AdvertisingID) -> Bool { index(of: id).map { entries[$0].hasBegun } ?? false }

    /// Whether every advertisement gets its turn when this one is wanted, too, or in place of `id`: what
    /// has a periodic train keeps its set.
    func hasRoom(for request: AdvertisingRequest, inPlaceOf id: AdvertisingID? = nil) -> Bool {
        let others = entries.filter { $0.id != id }
        let kept = others.count(where: \.keepsItsSet) + (request.periodic == nil ? 0 : 1)
        return kept < setCount || kept == others.count + 1 && kept == setCount
    }

    // MARK: What is to be done

    /// The advertisements that should be on air: those that keep their sets, and those that may take turns.
    var due: (kept: [Entry], others: [Entry]) {
        let all = entries.filter { $0.isDue(links) }
        let kept = all.filter(\.keepsItsSet)
        // A controller with fewer sets than it said leaves none for the others: then all take turns.
        guard kept.count < capacity || kept.count == all.count else { return ([], all) }
        return (kept, all.filter { !$0.keepsItsSet })
    }

    /// What the radio is to do next, if anything.
    mutating func next(at now: Instant) -> AdvertisingStep? {
        if let hold, hold <= now { self.hold = nil }
        for index in entries.indices {
            if let retry = entries[index].retry, retry <= now { entries[index].retry = nil }
        }
        guard !isHeld else { return pause }
        let due = due.kept + due.others
        if due.count <= capacity { turn = nil } else { turn = turn ?? now + Self.slice }
        let chosen = due.prefix(capacity)
        // Sets that are to go make room first.
        for handle in handles {
            guard let occupant = occupants[handle] else { continue }
            if !chosen.contains(where: { $0.id == occupant.owner }) { return .end(handle) }
        }
        guard hold == nil else { return nil }
        for entry in chosen {
            if let step = step(for: entry, at: now) { return step }
        }
        return nil
    }

    /// The next set to go off the air, for a while or for good.
    private var pause: AdvertisingStep? {
        let unwanted = handles.first { handle in
            occupants[handle].map { occupant in index(of: occupant.owner) == nil } ?? false
        }
        if let unwanted { return .end(unwanted) }
        return handles.first { occupants[$0]?.phase.isOnAir ?? false }.map { .pause($0) }
    }

    /// Whether a set may be on air.
    var isOnAir: Bool { occupants.values.contains(where: \.phase.isOnAir) }

    private mutating func step(for entry: Entry, at now: Instant) -> AdvertisingStep? {
        guard let handle = handles.first(where: { occupants[$0]?.owner == entry.id }),
            let own = occupants[handle]
        else {
            guard let free = handles.first(where: { occupants[$0] == nil && !foreign.contains($0) })
            else { return nil }
            return .begin(begin(entry, on: free, .nothing, at: now))
        }
        switch own.phase {
        case .preparing, .starting: return nil
        case .on where own.revision == entry.revision: return nil
        case .on where own.request.becomesInPlace(entry.request):
            return .change(entry.id, handle, entry.request)
        case .on, .doubtful: return .begin(begin(entry, on: handle, .on, at: now))
        case .off:
            let isSame = own.revision == entry.revision && entry.request.periodic != nil
            return .begin(begin(entry, on: handle, isSame ? .train : .off, at: now))
        }
    }

    /// Somebody else has the set that was to begin: another one may do. False when there is none.
    mutating func taken(_ handle: AdvertisingHandle) -> Bool {
        occupants[handle] = nil
        foreign.insert(handle)
        return handles.contains { occupants[$0] == nil && !foreign.contains($0) }
    }

    private mutating func begin(
        _ entry: Entry, on handle: AdvertisingHandle, _ before: AdvertisingStep.Before, at now: Instant
    ) -> AdvertisingStep.Beginning {
        let duration = entry.end.map(now.duration(until:)) ?? entry.request.timeLimit
        // 0xffff steps of 10 ms (Core Specification 5.4, Vol 4, Part E, 7.8.56).
        let told = duration.flatMap { limitsTime && $0 <= .milliseconds(655_350) ? $0 : nil }
        let previous = occupants[handle].flatMap { $0.revision == entry.revision ? nil : $0.request }
        occupants[handle] = Occupant(
            owner: entry.id, request: entry.request, revision: entry.revision,
            endsItself: told != nil || entry.request.direction?.dutyCycle == .high, previous: previous)
        var request = entry.request
        request.maximumEvents = entry.eventsLeft
        return .init(id: entry.id, set: handle, request: request, duration: told, before: before)
    }
}
