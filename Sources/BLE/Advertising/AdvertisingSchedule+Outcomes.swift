import BLECore
import HCI

/// How the steps went.
extension AdvertisingSchedule {
    /// How often in a row a set may be lost before its advertisement is given up.
    static let lossLimit = 5
    /// How often in a row one may be refused, when there is no link that could be the reason, until it is given up.
    static let refusalLimit = 6

    /// The set has its parameters and data and is told to begin: from here on its end may be told.
    mutating func starting(_ handle: AdvertisingHandle) { occupants[handle]?.phase = .starting }

    /// The set is on air, unless its end was told meanwhile.
    mutating func began(_ handle: AdvertisingHandle, at now: Instant) {
        guard let occupant = occupants[handle] else { return }
        occupants[handle]?.previous = nil
        if occupant.phase == .starting { occupants[handle]?.phase = .on }
        guard let index = index(of: occupant.owner) else { return }
        entries[index].losses = 0
        entries[index].refusals = 0
        entries[index].hasBegun = true
        if entries[index].end == nil { entries[index].end = occupant.request.timeLimit.map { now + $0 } }
    }

    /// The set has the data of `request`, which was the newest when the step was taken.
    mutating func changed(_ handle: AdvertisingHandle, to request: AdvertisingRequest) {
        guard let owner = occupants[handle]?.owner, let index = index(of: owner) else { return }
        occupants[handle]?.request = request
        // What was changed once more meanwhile is another step.
        if entries[index].request == request { occupants[handle]?.revision = entries[index].revision }
    }

    /// A change to `data`, or with nil to what was to begin, was refused and the set removed: what was on air
    /// before is wanted again. False when nothing was.
    mutating func takeBack(_ handle: AdvertisingHandle, from data: AdvertisingRequest? = nil) -> Bool {
        guard let occupant = occupants[handle], let index = index(of: occupant.owner) else { return false }
        guard let before = data == nil ? occupant.previous : occupant.request else { return false }
        if entries[index].request == data ?? occupant.request { entries[index].request = before }
        occupants[handle]?.request = before
        occupants[handle]?.previous = nil
        occupants[handle]?.phase = .off
        return true
    }

    /// The set is off the air for a while.
    mutating func paused(_ handle: AdvertisingHandle) {
        if occupants[handle]?.phase.isOnAir == true { occupants[handle]?.phase = .off }
    }

    /// The radio has nothing on this set any more.
    mutating func ended(_ handle: AdvertisingHandle) { occupants[handle] = nil }

    /// The controller has no more sets than are in use: the others take turns. False when none is in use.
    mutating func shrink() -> Bool {
        guard !occupants.isEmpty else { return false }
        capacity = occupants.count
        return true
    }

    /// The controller does not put on air again what has been there: it is asked once more after 1, 2, 4 … 32 s, and when a
    /// link ends. False when it was never on air, or was refused too often: then it is not wanted any more.
    mutating func refused(_ id: AdvertisingID, besideLinks: Bool, at now: Instant) -> Bool {
        guard let index = index(of: id), entries[index].hasBegun else { return false }
        guard besideLinks || entries[index].refusals < Self.refusalLimit else { return false }
        entries[index].retry = now + .seconds(1 << min(entries[index].refusals, 5))
        entries[index].refusals += 1
        return true
    }

    /// What was refused may go now: a link has ended.
    mutating func retry() {
        for index in entries.indices { entries[index].retry = nil }
    }

    /// The set was not there when it was needed. False when that was too often.
    mutating func lost(_ handle: AdvertisingHandle) -> Bool {
        guard let owner = occupants.removeValue(forKey: handle)?.owner, let index = index(of: owner) else {
            return true
        }
        entries[index].losses += 1
        return entries[index].losses <= Self.lossLimit
    }

    /// The controller was told something of this set and has not answered, or was not told that it should go.
    mutating func doubt(_ handle: AdvertisingHandle) {
        guard let occupant = occupants[handle] else { return }
        switch occupant.phase {
        case .on, .starting, .doubtful: occupants[handle]?.phase = .doubtful
        // The legacy commands' advertiser may be somebody else's; a train, though, may have begun.
        case .preparing: occupants[handle]?.phase = occupant.request.periodic == nil ? .off : .doubtful
        case .off: break
        }
    }

    /// The controller answers again and was not reset: it may have on air what it was told.
    mutating func doubt() {
        for handle in occupants.keys { doubt(handle) }
        hold = nil
        retry()
    }

    /// The controller was reset: it has nothing any more.
    mutating func reset() {
        occupants.removeAll()
        hold = nil
        retry()
    }
}
