import BLECore
import HCI

@testable import BLE

/// A synchronizer before a controller that does what a test says, when it says so.
struct PlayedSynchronizer {
    /// What happens.
    enum Step: CaseIterable {
        case followFirst
        case followSecond
        /// The oldest consumer goes.
        case endOldest
        case endNewest
        /// Time goes by, until the search is over.
        case time
        /// The controller carries the command out, and its answer is on the way.
        case execute
        /// It does, and says what comes of it before it answers: it has found the train, or has cancelled the search.
        case executeEarly
        /// It does, and says before it answers that it did not receive the first packets of the train.
        case executeAndMiss
        /// It has found the train when it is to cancel that, refuses to, and says afterwards that it has found it.
        case refuseCancel
        /// What the controller has said comes.
        case deliver
        /// The controller finds the train that it looks for, and the event is on the way.
        case find
        /// It does not receive the first packets of that train.
        case miss
        /// The command is not answered, and the controller is brought back.
        case silence
        /// It is brought back for another reason; the answer may still come.
        case fail
        /// It is back.
        case back
        /// It is back, and has forgotten all.
        case reset
    }

    private(set) var synchronizer = PeriodicSynchronizer()
    /// Consumers whose end was not reported.
    private(set) var consumers: [(id: PeriodicSyncID, train: PeriodicSynchronizer.Train)] = []
    /// The errors with which the others ended.
    private(set) var ends: [BLEError] = []
    /// Those that there have been, and those that have gone.
    private(set) var (followed, left) = (0, 0)
    private var isRecovering = false
    private var now = Instant.zero

    // The controller.
    private var search: PeriodicSynchronizer.Train?
    private(set) var follows: [UInt16: PeriodicSynchronizer.Train] = [:]
    private var nextHandle: UInt16 = 1
    private var command: MachineCommand?
    private var isCarriedOut = false
    /// What it has said, in this order.
    private var said = [Message]()

    private enum Message {
        case answer(CommandAnswer)
        case event(LEPeriodicAdvertisingSyncEstablished)

        var isAnswer: Bool { if case .answer = self { true } else { false } }
    }
    /// The opcodes of the commands that it was sent.
    private(set) var shown: [HCIOpcode] = []

    static let limit = Duration.seconds(10)
    static func train(_ set: UInt8) -> PeriodicSynchronizer.Train {
        .init(advertiser: DeviceAddress(0xc000_0000_0001, type: .random), set: set)
    }

    /// Takes a step; false when there is nothing to do.
    mutating func take(_ step: Step) -> Bool {
        switch step {
        case .followFirst: follow(Self.train(1))
        case .followSecond: follow(Self.train(2))
        case .endOldest:
            guard !consumers.isEmpty else { return false }
            left += 1
            synchronizer.end(consumers.removeFirst().id)
        case .endNewest:
            guard consumers.count > 1 else { return false }
            left += 1
            synchronizer.end(consumers.removeLast().id)
        case .time:
            guard let deadline = synchronizer.deadline else { return false }
            now = deadline
            synchronizer.expire(at: now)
        case .execute, .executeEarly, .executeAndMiss, .refuseCancel:
            guard !isCarriedOut, let command, carryOut(command, step) else { return false }
            isCarriedOut = true
        case .deliver:
            guard !said.isEmpty else { return false }
            switch said.removeFirst() {
            case .answer(let answer):
                (command, isCarriedOut) = (nil, false)
                synchronizer.answered(answer, isRecovering: isRecovering)
            case .event(let event): synchronizer.established(event, isShared: false)
            }
        case .find, .miss:
            guard let train = search.take() else { return false }
            said.append(outcome(train, step == .find ? .success : .connectionFailedToBeEstablished))
        case .silence:
            guard command != nil, !isRecovering else { return false }
            (command, isCarriedOut) = (nil, false)
            said.removeAll(where: \.isAnswer)
            isRecovering = true
            synchronizer.answered(.silent, isRecovering: true)
        case .fail:
            guard !isRecovering else { return false }
            isRecovering = true
        case .back:
            guard isRecovering else { return false }
            isRecovering = false
            synchronizer.controllerIsBack()
        case .reset:
            guard isRecovering else { return false }
            isRecovering = false
            (search, follows) = (nil, [:])
            // A command that was not answered is overtaken, which is reported later.
            said = command == nil ? [] : [.answer(.silent)]
            isCarriedOut = command != nil
            synchronizer.controllerWasReset()
        }
        goOn()
        return true
    }

    private mutating func follow(_ train: PeriodicSynchronizer.Train) {
        var options = PeriodicSyncOptions()
        options.establishing = Self.limit
        followed += 1
        consumers.append((synchronizer.follow(train, options), train))
    }

    /// Takes the next command and the events.
    private mutating func goOn() {
        if command == nil, !isRecovering, let next = synchronizer.nextCommand(isPaused: false, at: now) {
            command = next
            shown.append(next.packet.opcode)
        }
        while let event = synchronizer.nextEvent() {
            guard case .ended(let id, let error) = event else { continue }
            consumers.removeAll { $0.id == id }
            ends.append(error)
        }
    }

    /// Carries a command out as `step` says; false when it does not fit the command.
    private mutating func carryOut(_ command: MachineCommand, _ step: Step) -> Bool {
        let before = said.count
        let isCreate = command.packet.opcode == .lePeriodicAdvertisingCreateSync
        let isCancel = command.packet.opcode == .lePeriodicAdvertisingCreateSyncCancel
        if step == .refuseCancel {
            guard isCancel, let train = search.take() else { return false }
            said += [.answer(.refused(.commandDisallowed)), outcome(train, .success)]
            return true
        }
        guard step == .execute || isCreate || isCancel && step == .executeEarly else { return false }
        let answer = execute(command)
        if step != .execute, isCreate, answer == .done([]), let train = search.take() {
            said.append(outcome(train, step == .executeEarly ? .success : .connectionFailedToBeEstablished))
        }
        if step == .execute { said.insert(.answer(answer), at: before) } else { said.append(.answer(answer)) }
        return true
    }

    private mutating func execute(_ command: MachineCommand) -> CommandAnswer {
        let parameters = command.packet.parameters
        switch command.packet.opcode {
        case .lePeriodicAdvertisingCreateSync:
            let wanted = Self.train(parameters[1])
            guard search == nil else { return .refused(.commandDisallowed) }
            guard !follows.values.contains(wanted) else { return .refused(.connectionAlreadyExists) }
            search = wanted
        case .lePeriodicAdvertisingCreateSyncCancel:
            guard let train = search.take() else { return .refused(.commandDisallowed) }
            said.append(outcome(train, .operationCancelledByHost))
        case .lePeriodicAdvertisingTerminateSync:
            let handle = UInt16(parameters[0]) | UInt16(parameters[1]) << 8
            guard follows.removeValue(forKey: handle) != nil else {
                return .refused(.unknownAdvertisingIdentifier)
            }
        default: return .refused(.unknownCommand)
        }
        return .done([])
    }

    private mutating func outcome(
        _ train: PeriodicSynchronizer.Train, _ status: HCIStatus
    ) -> Message {
        let handle = nextHandle
        nextHandle += 1
        if status == .success { follows[handle] = train }
        return .event(
            LEPeriodicAdvertisingSyncEstablished(
                status: status,
                train: PeriodicTrain(
                    sync: SyncHandle(rawValue: handle), sid: train.set,
                    advertiser: HCIAddress(train.advertiser), phy: .le1M,
                    interval: ConnectionInterval(rawValue: 80))))
    }

    /// Everything that is under way ends, and every train that is looked for is found.
    mutating func settle() {
        var count = 0
        while take(.back) || take(.deliver) || take(.execute) || take(.find), count < 100 { count += 1 }
        goOn()
    }

    /// The consumers that a report of each train reaches.
    mutating func reached() -> [PeriodicSyncID] {
        var ids: [PeriodicSyncID] = []
        for handle in follows.keys {
            let report = LEPeriodicAdvertisingReport(
                sync: SyncHandle(rawValue: handle), rssi: -50, dataStatus: .complete, data: [1])
            synchronizer.receive(report, at: now) { id, _ in ids.append(id) }
        }
        return ids
    }
}
