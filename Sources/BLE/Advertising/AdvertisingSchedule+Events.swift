import BLECore
import HCI

/// What happens by itself: the controller ends sets, others do, and time passes.
extension AdvertisingSchedule {
    /// How long others' commands are left alone before what they ended is begun again.
    static let settling = Duration.milliseconds(250)
    /// How often a minute that is done.
    static let interruptionLimit = 30
    /// How long after its time a controller may tell that it has ended a set.
    static let grace = Duration.seconds(1)

    /// An advertisement that is over, and how.
    typealias Ending = (id: AdvertisingID, end: AdvertisingEnd)

    /// A set has ended by itself, and with it perhaps its advertisement: then that is gone, too.
    mutating func terminated(_ handle: AdvertisingHandle, _ status: HCIStatus, events: UInt8 = 0) -> Ending? {
        guard let occupant = occupants[handle], occupant.phase.isOnAir else { return nil }
        occupants[handle]?.phase = .off
        guard let index = index(of: occupant.owner) else { return nil }
        let entry = entries[index]
        switch status {
        case .advertisingTimeout where entry.request.timeLimit != nil: return finish(entry.id, .timeLimit)
        case .limitReached where entry.eventsLeft != nil: return finish(entry.id, .eventLimit)
        default:
            if let left = entry.eventsLeft { entries[index].eventsLeft = left > events ? left - events : 1 }
            return nil
        }
    }

    /// The set that the legacy commands have on air, when it is one that a connection or its time ends.
    var connectable: AdvertisingHandle? {
        occupants.first { $1.request.isConnectable && $1.phase.isOnAir }?.key
    }

    /// Others took sets off the air, or all of ours: those are begun again when the others have done.
    mutating func interrupted(_ sets: [AdvertisingHandle]?, at now: Instant) -> Bool {
        let hit = occupants.keys.filter { (sets?.contains($0) ?? true) && occupants[$0]?.phase == .on }
        guard !hit.isEmpty else { return false }
        for handle in hit { occupants[handle]?.phase = .off }
        interruptions.removeAll { $0 + .seconds(60) <= now }
        interruptions.append(now)
        hold = now + Self.settling
        if interruptions.count > Self.interruptionLimit, let first = interruptions.first {
            hold = first + .seconds(60)
        }
        return true
    }

    /// When `expire` is to run, if nothing happens before.
    var deadline: Instant? {
        entries.reduce(earlier(turn, hold)) { earlier($0, earlier($1.retry, endByHost(of: $1))) }
    }

    /// Passes the turn on, and ends those whose time is over.
    mutating func expire(at now: Instant) -> [Ending] {
        let over = entries.filter { endByHost(of: $0).map { $0 <= now } ?? false }
        let endings = over.compactMap { finish($0.id, .timeLimit) }
        if let turn, turn <= now {
            self.turn = nil
            let (kept, others) = due
            let room = capacity - kept.count
            let leaving = others.prefix(max(0, min(others.count - room, room))).map(\.id)
            entries = entries.filter { !leaving.contains($0.id) } + entries.filter { leaving.contains($0.id) }
        }
        return endings
    }

    /// When the host ends it: where the controller does not by itself, or has not.
    private func endByHost(of entry: Entry) -> Instant? {
        guard let end = entry.end else { return nil }
        let endsItself = occupants.values.contains {
            $0.owner == entry.id && $0.endsItself && $0.phase == .on
        }
        return endsItself ? end + Self.grace : end
    }

    private mutating func finish(_ id: AdvertisingID, _ end: AdvertisingEnd) -> Ending? {
        remove(id) ? (id, end) : nil
    }
}

extension AdvertisingSchedule.Occupant.Phase {
    /// Whether the set may be on air, so that its end can be told.
    var isOnAir: Bool {
        switch self {
        case .on, .starting, .doubtful: true
        case .preparing, .off: false
        }
    }
}
