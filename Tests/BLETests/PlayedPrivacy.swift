import BLECore
import HCI
import SMP

@testable import BLE

/// A privacy machine with a radio and a controller whose actions, and their time, a test determines.
struct PlayedPrivacy {
    /// An event that a test plays.
    enum Step: CaseIterable {
        /// A bond with a peer that uses private addresses is added, or removed.
        case firstPeer
        case secondPeer
        /// The time advances to the next deadline.
        case time
        /// The search for a periodic train begins or ends.
        case search
        /// The radio has stopped.
        case rest
        /// The radio does not stop.
        case proceed
        /// The controller executes the command, if it can.
        case execute
        /// The controller executes the command, and its answer is lost.
        case executeSilently
        /// The controller refuses the command for now.
        case disallow
        /// The controller refuses the command permanently.
        case refuse
        /// The controller sends a malformed answer.
        case babble
        /// A packet arrives whose address the controller should have resolved.
        case miss
        /// The controller is reset and set up. The answer to an earlier command arrives too late.
        case reset
        /// The controller is reset and set up, and refuses additions to its resolving list.
        case resetRefusing
    }

    private(set) var privacy = Privacy(PrivacyOptions(isEnabled: true, addressLifetime: Self.lifetime))
    private(set) var now = Instant.zero
    /// Peers that are bonded.
    private(set) var peers: Set<UInt64> = []
    /// The machine's faults so far.
    private(set) var faults: [String] = []
    /// Whether the list was given up since the last reset.
    private(set) var hasGivenUp = false
    /// Whether the list was found to have less room than the controller reported.
    private(set) var isSmaller = false

    /// Whether the next command is to disable address resolution.
    private var isLeaving = false

    // The controller.
    private(set) var list: [DeviceAddress: PeerKeyList.Keys] = [:]
    private(set) var isResolving = false
    private(set) var address: DeviceAddress?
    let (room, claimedRoom): (Int, Int)
    private var command: MachineCommand?

    // The radio.
    private var radio = Privacy.RadioActivity.on
    private var isSearching = false
    private var made: UInt64 = 0
    private var setAt = Instant.zero

    static let lifetime = Duration.seconds(60)
    static func peer(_ number: UInt64) -> DeviceAddress {
        DeviceAddress(0xc000_0000_0000 | number, type: .random)
    }

    /// Creates a machine on a controller whose list has room for `room` peers, and that reports `claimed`.
    init(room: Int, claimed: Int) {
        (self.room, claimedRoom) = (room, claimed)
        setUp()
    }

    /// The age of the address on air.
    var age: Duration { setAt.duration(until: now) }

    /// Plays a step. Returns false when it cannot occur now.
    mutating func take(_ step: Step) -> Bool {
        switch step {
        case .firstPeer, .secondPeer:
            let peer: UInt64 = step == .firstPeer ? 1 : 2
            if peers.remove(peer) == nil { peers.insert(peer) }
            notePeers()
        case .time:
            guard let deadline = privacy.deadline else { return false }
            now = max(now, deadline)
            privacy.expire(at: now)
        case .search:
            // No search begins while the radio pauses.
            guard isSearching || !privacy.isPausing else { return false }
            isSearching.toggle()
        case .rest, .proceed:
            guard privacy.awaitsRadio, radio == .changing else { return false }
            radio = step == .rest ? .quiet : .on
        case .execute, .executeSilently, .disallow, .refuse, .babble:
            guard let command = command.take() else { return false }
            privacy.answered(answer(to: command, step), to: privacy.lastCommand, at: now)
        case .miss:
            guard let peer = peers.map(Self.peer).first(where: privacy.controllerHasKey(of:)) else {
                return false
            }
            privacy.controllerMissed(peer, at: DeviceAddress(0x4000_0000_0001, type: .random))
            hasGivenUp = true
        case .reset, .resetRefusing:
            let before = command.take().map { _ in privacy.lastCommand }
            setUp(beside: before, refusing: step == .resetRefusing)
        }
        proceed()
        return true
    }

    private mutating func notePeers() {
        let records = peers.map { number in
            var bond = SampleBonds.bond(with: Self.peer(number))
            bond.peerIdentityKey = UInt128(number)
            return BondRecord(bond, created: Timestamp(milliseconds: Int64(number)))
        }
        privacy.setPeers(records, localKey: 7, knowsHidden: !peers.isEmpty)
    }

    /// Sets up the controller after a reset. `before` is an earlier command whose answer is given up while a
    /// command of the set-up is unanswered. With `refusing` the controller refuses additions to its list.
    private mutating func setUp(beside before: UInt64? = nil, refusing: Bool = false) {
        (list, isResolving, address, isLeaving) = ([:], false, nil, false)
        (hasGivenUp, isSmaller) = (false, false)
        privacy.controllerWasReset(listSize: claimedRoom, at: now)
        notePeers()
        var made = made
        do throws(BLEError) {
            while let next = try privacy.nextSetupCommand(at: now, newAddress: { Self.makeAddress(&made) }) {
                if let before { privacy.answered(.silent, to: before, at: now) }
                check(next)
                let isRefused = refusing && next.packet.opcode == .leAddDeviceToResolvingList
                let answer = isRefused ? refuse(next, .commandDisallowed) : execute(next)
                privacy.answered(answer, to: privacy.lastCommand, at: now)
            }
        } catch {
            faults.append("\(error)")
        }
        self.made = made
        while privacy.nextEvent() != nil {}
        radio = .on
    }

    private static func makeAddress(_ count: inout UInt64) -> DeviceAddress {
        count += 1
        return DeviceAddress(0x4000_0000_0000 | count << 8, type: .random)
    }

    /// Runs the machine as the adapter does, and checks its commands.
    private mutating func proceed() {
        var isAgain = true
        while isAgain {
            isAgain = false
            if privacy.pauseIfDue(isSearching: isSearching, at: now) { radio = .changing }
            var made = made
            let next = privacy.nextCommand(radio: radio, isSearching: isSearching, at: now) {
                Self.makeAddress(&made)
            }
            self.made = made
            if let next {
                if command != nil { faults.append("two commands at once") }
                if radio != .quiet { faults.append("\(next.packet.opcode) while the radio is on") }
                if isSearching, next.packet.opcode != .leSetRandomAddress {
                    faults.append("\(next.packet.opcode) during a search")
                }
                check(next)
                command = next
            }
            while let event = privacy.nextEvent() {
                guard case .resumed = event else { continue }
                isAgain = true
                // The next change may have begun already.
                if !privacy.isPausing { radio = .on }
            }
        }
        if !privacy.isPausing, radio != .on { faults.append("the radio stays off") }
        for peer in [1, 2].map(Self.peer) where privacy.controllerHasKey(of: peer) && list[peer] == nil {
            faults.append("\(peer) is taken to be on the list")
        }
    }

    private mutating func answer(to command: MachineCommand, _ step: Step) -> CommandAnswer {
        switch step {
        case .executeSilently:
            _ = execute(command)
            return .silent
        case .disallow: return .refused(.commandDisallowed)
        case .refuse:
            return refuse(command, .unknownCommand)
        case .babble: return .malformed(.missingStatus)
        default: return execute(command)
        }
    }

    private mutating func refuse(_ command: MachineCommand, _ status: HCIStatus) -> CommandAnswer {
        if command.packet.opcode != .leSetRandomAddress, !hasGivenUp {
            (hasGivenUp, isLeaving) = (true, true)
        }
        return .refused(status)
    }

    /// Checks that a list that is not relied on is switched off at once.
    private mutating func check(_ command: MachineCommand) {
        guard isLeaving else { return }
        isLeaving = false
        if command.packet != LESetAddressResolutionEnable(enable: false).packet {
            faults.append("the list that is left is not switched off")
        }
    }

    private mutating func execute(_ command: MachineCommand) -> CommandAnswer {
        let parameters = command.packet.parameters
        switch command.packet.opcode {
        case .leSetRandomAddress:
            address = privacyAddress(parameters[0..<6])
            setAt = now
        case .leSetAddressResolutionEnable: isResolving = parameters[0] == 1
        case .leClearResolvingList:
            guard !isResolving else { return .refused(.commandDisallowed) }
            list = [:]
        case .leAddDeviceToResolvingList:
            guard !isResolving else { return .refused(.commandDisallowed) }
            guard list.count < room else {
                isSmaller = true
                return .refused(.memoryCapacityExceeded)
            }
            let peer = privacyAddress(parameters[1..<7])
            guard list[peer] == nil else { return .refused(.invalidCommandParameters) }
            list[peer] = PeerKeyList.Keys(peer: UInt128(parameters[7]), local: UInt128(parameters[23]))
        case .leSetPrivacyMode:
            guard list[privacyAddress(parameters[1..<7])] != nil else {
                return .refused(.unknownConnectionIdentifier)
            }
        default: return .refused(.unknownCommand)
        }
        return .done([])
    }

    private func privacyAddress(_ octets: ArraySlice<UInt8>) -> DeviceAddress {
        DeviceAddress(octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }, type: .random)
    }

    /// Completes everything that is under way or due. With `searchesFirst` a search ends only after everything
    /// that can be completed during it.
    mutating func settle(searchesFirst: Bool = false) {
        if isSearching {
            if searchesFirst { settleRest() }
            _ = take(.search)
        }
        settleRest()
    }

    private mutating func settleRest() {
        var count = 0
        while count < 100 {
            count += 1
            if take(.rest) || take(.execute) { continue }
            // A change that failed is retried.
            guard let deadline = privacy.deadline, now.duration(until: deadline) <= Privacy.secondTry,
                take(.time)
            else {
                break
            }
        }
        if count == 100 { faults.append("it does not settle") }
    }
}
