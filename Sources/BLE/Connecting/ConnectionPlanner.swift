import BLECore
import HCI

/// What the controller's one initiator is told, so that every device that somebody waits for is connected to
/// when it advertises (Core Specification 5.4, Vol 6, Part B, 4.4.4).
///
/// One device is named in the command; several are on the filter accept list. Neither may change while the
/// initiator is on, so a change is a cancel, the event that ends it, and a new command. When more devices are
/// wanted than the list takes, they take turns.
///
/// No I/O: `next` says what to do, and what comes of that is told back. One step at a time.
struct ConnectionPlanner: Hashable, Sendable {
    /// Whom the initiator listens for.
    enum Target: Hashable, Sendable {
        case device(DeviceAddress)
        case acceptList(Set<DeviceAddress>)

        /// The devices.
        var devices: Set<DeviceAddress> {
            switch self {
            case .device(let device): [device]
            case .acceptList(let devices): devices
            }
        }
    }

    /// What is to be done.
    enum Step: Hashable, Sendable {
        /// Switch the initiator on; `started` or `refused` tells the outcome.
        case create(Target)
        /// Switch it off; an event tells that it is, if not the link that came meanwhile.
        case cancel
    }

    private enum Initiator: Hashable, Sendable {
        case off
        case starting(Target)
        case on(Target)
        /// It was told to end by then.
        case stopping(Target, until: Instant)
    }

    /// How long devices have their turn.
    static let turn = Duration.seconds(5)
    /// How long the controller has to tell that it has ended.
    static let stopLimit = Duration.seconds(2)

    /// The devices that are wanted, in the order of their turns.
    private(set) var wanted: [DeviceAddress] = []
    /// Whether the radio pauses: the initiator is switched off, and stays so.
    var isHeld = false
    private var initiator = Initiator.off
    private var turnEnd: Instant?
    /// How many devices the accept list takes; 0 where it cannot be used.
    private var capacity: Int

    /// A planner for a controller whose accept list has room for so many.
    init(capacity: Int = 0) { self.capacity = capacity }
}

// MARK: - What is wanted

extension ConnectionPlanner {
    /// A device is to be connected to.
    mutating func want(_ device: DeviceAddress) {
        if !wanted.contains(device) { wanted.append(device) }
    }

    /// It is not any more.
    mutating func forget(_ device: DeviceAddress) { wanted.removeAll { $0 == device } }

    /// Nothing is wanted any more.
    mutating func forgetAll() { wanted.removeAll() }

    /// Whether the controller has nothing to do with connecting, and shall have nothing.
    var isIdle: Bool { initiator == .off && wanted.isEmpty }

    /// Whether the controller has nothing to do with connecting.
    var isQuiet: Bool { initiator == .off }

    /// The target that is due.
    private var due: Target? {
        guard !isHeld, let first = wanted.first else { return nil }
        guard wanted.count > 1, capacity > 1 else { return .device(first) }
        return .acceptList(Set(wanted.prefix(capacity)))
    }

    private var takesTurns: Bool { wanted.count > max(capacity, 1) }
}

// MARK: - What to do

extension ConnectionPlanner {
    /// The next step, if one is due.
    mutating func next(at now: Instant) -> Step? {
        switch initiator {
        case .off:
            guard let due else { return nil }
            initiator = .starting(due)
            turnEnd = takesTurns ? now + Self.turn : nil
            return .create(due)
        case .on(let target) where target != due:
            initiator = .stopping(target, until: now + Self.stopLimit)
            turnEnd = nil
            return .cancel
        case .on:
            turnEnd = takesTurns ? turnEnd ?? now + Self.turn : nil
            return nil
        case .starting, .stopping: return nil
        }
    }

    /// When `expire` wants to be called.
    var deadline: Instant? {
        if case .stopping(_, let limit) = initiator { return limit }
        return turnEnd
    }

    /// Acts on what was due by `now`. True when the controller has not told in time that it has ended, which
    /// it then is taken to have.
    mutating func expire(at now: Instant) -> Bool {
        if case .stopping(_, let limit) = initiator {
            guard limit <= now else { return false }
            initiator = .off
            return true
        }
        if let turnEnd, turnEnd <= now {
            self.turnEnd = nil
            let served = min(max(capacity, 1), wanted.count)
            wanted = Array(wanted.dropFirst(served) + wanted.prefix(served))
        }
        return false
    }
}

// MARK: - What came of it

extension ConnectionPlanner {
    /// The controller has taken the command.
    mutating func started() {
        if case .starting(let target) = initiator { initiator = .on(target) }
    }

    /// The controller has refused the command, or its accept list could not be had: the devices that are to
    /// hear of it, which are not wanted any more. With a list it is tried without.
    mutating func refused() -> [DeviceAddress] {
        guard case .starting(let target) = initiator else { return [] }
        initiator = .off
        switch target {
        case .acceptList:
            capacity = 0
            return []
        case .device(let device):
            forget(device)
            return [device]
        }
    }

    /// A link was made by the initiator, to that address: which device it is.
    mutating func connected(to address: DeviceAddress) -> DeviceAddress {
        defer { initiator = .off }
        switch initiator {
        // The controller may have resolved the address.
        case .starting(.device(let device)), .on(.device(let device)), .stopping(.device(let device), _):
            return device
        default: return address
        }
    }

    /// The initiator has ended without a link: the devices that are to hear of it, which are not wanted any
    /// more. None when it was told to end.
    mutating func ended(_ status: HCIStatus) -> [DeviceAddress] {
        defer { initiator = .off }
        switch initiator {
        case .off: return []
        case .stopping where status == .unknownConnectionIdentifier: return []
        case .starting(let target), .on(let target), .stopping(let target, _):
            let failed = wanted.filter(target.devices.contains)
            for device in failed { forget(device) }
            return failed
        }
    }

    /// The controller is as after power-on, with room for so many on its accept list; what is wanted is so
    /// still.
    mutating func wasReset(capacity: Int) {
        initiator = .off
        turnEnd = nil
        self.capacity = capacity
    }
}
