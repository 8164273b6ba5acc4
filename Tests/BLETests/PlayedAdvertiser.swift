import BLECore
import HCI
import Testing

@testable import BLE

/// An advertiser with a controller whose answers a test determines. Commands are written as a word or two and
/// their set.
struct PlayedAdvertiser {
    var advertiser = Advertiser()
    var conditions = Advertiser.Conditions()
    /// The sets that other processes use.
    var taken: Set<AdvertisingHandle> = []
    /// The events of the advertiser.
    var events: [String] = []
    private(set) var packet = HCICommandPacket(opcode: .none)

    /// Creates an advertiser on a controller with this number of sets; nil: with the legacy commands.
    init(sets: Int? = 4, isShared: Bool = false) {
        conditions.isShared = isShared
        guard let sets else { return }
        conditions.controller.features = [.extendedAdvertising, .periodicAdvertising]
        conditions.controller.commands = SupportedCommands([.leSetExtendedAdvertisingEnable])
        conditions.controller.numberOfAdvertisingSets = sets
        conditions.controller.maximumAdvertisingDataLength = 1650
    }

    mutating func advertise(
        _ request: AdvertisingRequest, links: Int = 1
    ) throws(BLEError) -> AdvertisingID {
        try advertiser.advertise(request, maximumLinks: links, under: conditions)
    }

    @discardableResult
    mutating func update(
        _ id: AdvertisingID, to request: AdvertisingRequest
    ) throws(BLEError) -> AdvertisingUpdateID {
        try advertiser.update(id, to: request, under: conditions)
    }

    mutating func stop(_ id: AdvertisingID) {
        advertiser.stop(id)
        take()
    }

    /// Returns the next command; nil when there is none.
    mutating func next() -> String? {
        defer { take() }
        while true {
            if let command = advertiser.nextCommand(under: conditions) {
                packet = command.packet
                return Self.name(command.packet)
            }
            guard let set = advertiser.wantedSet else { return nil }
            advertiser.claimed(set, isOurs: !taken.contains(set))
        }
    }

    /// Answers the last command.
    mutating func answer(_ answer: CommandAnswer) {
        advertiser.answered(answer, under: conditions)
        take()
    }

    /// Sends all commands and returns them. Each is answered with success, but for the first that is `command`,
    /// which is answered with `answer`.
    mutating func settle(_ command: String = "", _ answer: CommandAnswer = .done([])) -> [String] {
        var sent: [String] = []
        var isGiven = false
        while let next = next(), sent.count < 60 {
            sent.append(next)
            if next == command, !isGiven {
                isGiven = true
                self.answer(answer)
            } else {
                self.answer(.done([]))
            }
        }
        return sent
    }

    /// Does the same as `settle`, and omits from the result the commands that prepare or remove a set.
    mutating func run(_ command: String = "", _ answer: CommandAnswer = .done([])) -> [String] {
        settle(command, answer).filter { text in
            !["parameters", "data", "scan response", "address", "remove", "train parameters", "train data"]
                .contains { text == $0 || text.hasPrefix($0 + " ") }
        }
    }

    /// Sends commands up to `command`, which is not answered.
    mutating func run(upTo command: String, at location: SourceLocation = #_sourceLocation) {
        var sent: [String] = []
        while let next = next(), sent.count < 60 {
            if next == command { return }
            sent.append(next)
            answer(.done([]))
        }
        Issue.record("no \(command) in \(sent)", sourceLocation: location)
    }

    /// Advances the time by `duration`.
    mutating func wait(_ duration: Duration) {
        conditions.now = conditions.now + duration
        if let deadline = advertiser.deadline, deadline <= conditions.now {
            advertiser.expire(at: conditions.now)
        }
        take()
    }

    /// Reports that a set has ended by itself.
    mutating func terminated(_ set: UInt8, _ status: HCIStatus = .success, events: UInt8 = 0) {
        advertiser.terminated(AdvertisingHandle(rawValue: set), status, events: events)
        take()
    }

    /// Sends the shared controller a command of another program.
    mutating func others(_ command: HCICommandPacket) {
        var octets = [
            UInt8(truncatingIfNeeded: command.opcode.rawValue), UInt8(command.opcode.rawValue >> 8),
            UInt8(command.parameters.count),
        ]
        octets += command.parameters
        advertiser.foreignCommand(
            octets.span, isRecovering: conditions.isRecovering, at: conditions.now)
        take()
    }

    /// The time until the advertiser's deadline; nil when there is none.
    var nextIn: Duration? { advertiser.deadline.map(conditions.now.duration(until:)) }

    mutating func take() {
        while let event = advertiser.nextEvent() {
            switch event {
            case .started(let id): events.append("started \(id.number)")
            case .power(let id, let power): events.append("power \(id.number): \(power)")
            case .updated(let id, .success): events.append("updated \(id.number)")
            case .updated(let id, .failure(let error)): events.append("not updated \(id.number): \(error)")
            case .ended(let id, .success(let end)): events.append("ended \(id.number): \(end)")
            case .ended(let id, .failure(let error)): events.append("failed \(id.number): \(error)")
            case .offAir(let id): events.append("off air \(id.number)")
            case .changed, .log, .warning: break
            }
        }
    }

    /// Returns the name of a command, in a word or two, with its set.
    static func name(_ packet: HCICommandPacket) -> String {
        let set = packet.parameters.first.map(\.hex) ?? ""
        switch packet.opcode {
        case .leSetAdvertisingEnable: return packet.parameters == [0] ? "off" : "on"
        case .leSetAdvertisingParameters: return "parameters"
        case .leSetAdvertisingData: return "data"
        case .leSetScanResponseData: return "scan response"
        case .leReadAdvertisingPhysicalChannelTxPower: return "power"
        case .leSetExtendedAdvertisingParameters: return "parameters \(set)"
        case .leSetAdvertisingSetRandomAddress: return "address \(set)"
        case .leSetExtendedAdvertisingData: return "data \(set)"
        case .leSetExtendedScanResponseData: return "scan response \(set)"
        case .leSetPeriodicAdvertisingParameters: return "train parameters \(set)"
        case .leSetPeriodicAdvertisingData: return "train data \(set)"
        case .leSetPeriodicAdvertisingEnable:
            return packet.parameters.first == 0
                ? "train off \(packet.parameters[1].hex)" : "train on \(packet.parameters[1].hex)"
        case .leRemoveAdvertisingSet: return "remove \(set)"
        case .leSetExtendedAdvertisingEnable:
            guard let command = try? LESetExtendedAdvertisingEnable(packet.parameters.span),
                let entry = command.sets.first
            else { return "?" }
            guard command.enable.value == true else { return "off \(entry.set.rawValue.hex)" }
            var text = "on \(entry.set.rawValue.hex)"
            if entry.duration.rawValue > 0 { text += " for \(Int(entry.duration.rawValue) * 10) ms" }
            if entry.maxEvents > 0 { text += ", \(entry.maxEvents) events" }
            return text
        default: return packet.opcode.description
        }
    }
}

/// The advertising of a controller: its sets, their data, and which are on air.
struct AdvertisingRadio {
    struct Set {
        var isOn = false
        var data: [UInt8] = []
        var isConnectable: Bool
        var hasTrain = false
    }

    var sets: [UInt8: Set] = [:]
    var capacity = 4

    /// Executes a command and returns the controller's answer.
    mutating func take(_ packet: HCICommandPacket) -> CommandAnswer {
        let octets = packet.parameters
        switch packet.opcode {
        case .leSetAdvertisingParameters:
            guard sets[0xef]?.isOn != true else { return .refused(.commandDisallowed) }
            sets[0xef] = Set(isConnectable: octets[4] == 0)
            return .done([])
        case .leSetAdvertisingData:
            sets[0xef]?.data = Array(octets[1...].prefix(Int(octets[0])))
            return .done([])
        case .leSetScanResponseData: return .done([])
        case .leSetAdvertisingEnable:
            sets[0xef]?.isOn = octets == [1]
            return .done([])
        case .leSetExtendedAdvertisingParameters:
            guard sets[octets[0]]?.isOn != true, sets[octets[0]]?.hasTrain != true else {
                return .refused(.commandDisallowed)
            }
            guard sets[octets[0]] != nil || sets.count < capacity else {
                return .refused(.memoryCapacityExceeded)
            }
            sets[octets[0]] = Set(isConnectable: octets[1] & 1 != 0)
            return .done([0])
        case .leSetExtendedAdvertisingEnable:
            let set = octets[2]
            guard sets[set] != nil else { return .refused(.unknownAdvertisingIdentifier) }
            sets[set]?.isOn = octets[0] == 1
            return .done([])
        case .leSetPeriodicAdvertisingEnable:
            guard sets[octets[1]] != nil else { return .refused(.unknownAdvertisingIdentifier) }
            sets[octets[1]]?.hasTrain = octets[0] != 0
            return .done([])
        case .leRemoveAdvertisingSet:
            guard let set = sets[octets[0]] else { return .refused(.unknownAdvertisingIdentifier) }
            guard !set.isOn, !set.hasTrain else { return .refused(.commandDisallowed) }
            sets[octets[0]] = nil
            return .done([])
        case .leSetExtendedAdvertisingData:
            guard sets[octets[0]] != nil else { return .refused(.unknownAdvertisingIdentifier) }
            sets[octets[0]]?.data = Array(octets[4...])
            return .done([])
        default:
            guard sets[octets[0]] != nil else { return .refused(.unknownAdvertisingIdentifier) }
            return .done([])
        }
    }
}
