import BLECore
import HCI

@testable import BLE

/// A synchronizer with a controller whose actions, and their time, a test determines.
struct PlayedSynchronizer {
    /// An event that a test plays.
    enum Step: CaseIterable {
        case followFirst
        case followSecond
        /// The oldest consumer ends.
        case endOldest
        case endNewest
        /// The time advances to the time limit of the search.
        case time
        /// The controller executes the command, and sends its answer.
        case execute
        /// The controller executes the command, and sends the outcome before the answer: it has found the train,
        /// or has cancelled the search.
        case executeEarly
        /// The controller executes the command, and reports before the answer that it did not receive the first
        /// packets of the train.
        case executeAndMiss
        /// The controller has found the train before the cancellation. It refuses the cancellation, and then
        /// reports the train.
        case refuseCancel
        /// The controller's next message arrives.
        case deliver
        /// The controller finds the train that it searches for, and sends the event.
        case find
        /// The controller does not receive the first packets of the train.
        case miss
        /// The command is not answered, which starts a recovery of the controller.
        case silence
        /// A recovery starts for another reason. The answer may still arrive.
        case fail
        /// The recovery ends without a reset.
        case back
        /// The recovery ends with a reset, which ends the search and all trains.
        case reset
    }

    /// Whether the searches have a time limit.
    let isLimited: Bool
    private(set) var synchronizer = PeriodicSynchronizer()
    /// Consumers whose end was not reported.
    private(set) var consumers: [(id: PeriodicSyncID, train: PeriodicSynchronizer.Train)] = []
    /// The errors with which the others ended.
    private(set) var ends: [BLEError] = []
    /// The number of consumers so far, and of those that a step has ended.
    private(set) var (followed, left) = (0, 0)
    private var isRecovering = false
    private var now = Instant.zero

    // The controller.
    private var search: PeriodicSynchronizer.Train?
    var searched: PeriodicSynchronizer.Train? { search }
    private(set) var follows: [UInt16: PeriodicSynchronizer.Train] = [:]
    private var nextHandle: UInt16 = 1
    private var command: MachineCommand?
    private var isCarriedOut = false
    /// The controller's messages that have not arrived yet, in order.
    private var messages = [Message]()

    private enum Message {
        case answer(CommandAnswer)
        case event(LEPeriodicAdvertisingSyncEstablished)

        var isAnswer: Bool { if case .answer = self { true } else { false } }
    }
    /// The opcodes of the commands that the controller was sent.
    private(set) var opcodes: [HCIOpcode] = []

    init(isLimited: Bool = true) { self.isLimited = isLimited }

    static let limit = Duration.seconds(10)
    static func train(_ set: UInt8) -> PeriodicSynchronizer.Train {
        .init(advertiser: DeviceAddress(0xc000_0000_0001, type: .random), set: set)
    }

    /// Plays a step. Returns false when it cannot occur now.
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
            guard !messages.isEmpty else { return false }
            switch messages.removeFirst() {
            case .answer(let answer):
                (command, isCarriedOut) = (nil, false)
                synchronizer.answered(answer, isRecovering: isRecovering, at: now)
            case .event(let event): synchronizer.established(event)
            }
        case .find, .miss:
            guard let train = search.take() else { return false }
            messages.append(outcome(train, step == .find ? .success : .connectionFailedToBeEstablished))
        case .silence:
            guard command != nil, !isRecovering else { return false }
            (command, isCarriedOut) = (nil, false)
            messages.removeAll(where: \.isAnswer)
            isRecovering = true
            synchronizer.answered(.silent, isRecovering: true, at: now)
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
            // An unanswered command is given up, which is reported later.
            messages = command == nil ? [] : [.answer(.silent)]
            isCarriedOut = command != nil
            synchronizer.controllerWasReset()
        }
        proceed()
        return true
    }

    private mutating func follow(_ train: PeriodicSynchronizer.Train) {
        var options = PeriodicSyncOptions()
        options.establishing = isLimited ? Self.limit : nil
        followed += 1
        consumers.append((synchronizer.follow(train, options), train))
    }

    /// Takes the next command and the events.
    private mutating func proceed() {
        if command == nil, !isRecovering, let next = synchronizer.nextCommand(isPaused: false, at: now) {
            command = next
            opcodes.append(next.packet.opcode)
        }
        while let event = synchronizer.nextEvent() {
            guard case .ended(let id, let error) = event else { continue }
            consumers.removeAll { $0.id == id }
            ends.append(error)
        }
    }

    /// Executes a command in the way of `step`. Returns false when the step does not fit the command.
    private mutating func carryOut(_ command: MachineCommand, _ step: Step) -> Bool {
        let before = messages.count
        let isCreate = command.packet.opcode == .lePeriodicAdvertisingCreateSync
        let isCancel = command.packet.opcode == .lePeriodicAdvertisingCreateSyncCancel
        if step == .refuseCancel {
            guard isCancel, let train = search.take() else { return false }
            messages += [.answer(.refused(.commandDisallowed)), outcome(train, .success)]
            return true
        }
        guard step == .execute || isCreate || isCancel && step == .executeEarly else { return false }
        let answer = execute(command)
        if step != .execute, isCreate, answer == .done([]), let train = search.take() {
            messages.append(
                outcome(train, step == .executeEarly ? .success : .connectionFailedToBeEstablished))
        }
        if step == .execute {
            messages.insert(.answer(answer), at: before)
        } else {
            messages.append(.answer(answer))
        }
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
            messages.append(outcome(train, .operationCancelledByHost))
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

    /// Completes everything that is under way. Every train that is searched for is found.
    mutating func settle() {
        var count = 0
        while take(.back) || take(.deliver) || take(.execute) || take(.find), count < 100 { count += 1 }
        proceed()
    }

    /// Returns the consumers that receive a report of each train.
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
