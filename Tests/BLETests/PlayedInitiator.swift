import BLECore
import HCI

@testable import BLE

/// An initiator with a controller whose answers a test determines. Commands are written as a word and a device.
struct PlayedInitiator {
    var initiator = Initiator()
    var list = AcceptList()
    var conditions = Initiator.Conditions()
    /// The requests that wait for the devices.
    var requests: [ConnectState.Request] = []
    /// The events of the initiator.
    var events: [String] = []
    private(set) var packet = HCICommandPacket(opcode: .none)

    /// Creates an initiator on a controller whose accept list holds `capacity` devices.
    init(list capacity: Int = 8) {
        list.wasReset(holding: capacity)
        initiator.controllerWasReset(capacity: capacity)
    }

    /// Requests links to these devices, which have the numbers 1 to 9.
    mutating func add(_ devices: Int...) {
        for device in devices { initiator.add(Self.device(device)) }
    }

    mutating func forget(_ device: Int) { initiator.forget(Self.device(device)) }

    static func device(_ number: Int) -> DeviceAddress {
        DeviceAddress(UInt64(0xc000_0000_0000 + number), type: .random)
    }

    /// Returns the next command; nil when there is none.
    mutating func next() -> String? {
        defer { take() }
        guard let command = initiator.nextCommand(under: conditions, &list, for: { _ in requests })
        else { return nil }
        packet = command.packet
        return Self.name(command.packet)
    }

    /// Answers the last command.
    mutating func answer(_ answer: CommandAnswer) {
        initiator.answered(answer, under: conditions, &list)
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

    /// Reports a link to `device`, and returns the device that the initiator matches to it; nil if none.
    mutating func connected(to device: Int) -> Int? {
        let found = initiator.connected { $0 == Self.device(device) }
        take()
        return found.map { Int($0.value & 0xf) }
    }

    /// Reports that the attempt has ended without a link.
    mutating func failed(_ status: HCIStatus = .unknownConnectionIdentifier) {
        initiator.failed(status)
        take()
    }

    /// Advances the time by `duration`.
    mutating func wait(_ duration: Duration) {
        conditions.now = conditions.now + duration
        if let deadline = initiator.deadline, deadline <= conditions.now {
            initiator.expire(at: conditions.now)
        }
        take()
    }

    /// The time until the initiator's deadline; nil when there is none.
    var nextIn: Duration? { initiator.deadline.map(conditions.now.duration(until:)) }

    mutating func take() {
        while let event = initiator.nextEvent() {
            switch event {
            case .failed(let device, let error): events.append("failed \(device.value & 0xf): \(error)")
            case .warning(let line): events.append(line)
            case .changed, .log: break
            }
        }
    }

    /// The scan interval and window of the last command, a legacy command that connects.
    var timing: ScanTiming {
        let octets = packet.parameters.map(UInt16.init)
        return ScanTiming(
            Slots(rawValue: octets[0] | octets[1] << 8), Slots(rawValue: octets[2] | octets[3] << 8))
    }

    static func name(_ packet: HCICommandPacket) -> String {
        let octets = packet.parameters
        switch packet.opcode {
        case .leClearFilterAcceptList: return "clear"
        case .leAddDeviceToFilterAcceptList: return "add \(octets[1])"
        case .leCreateConnectionCancel: return "cancel"
        case .leCreateConnection: return octets[4] == 0 ? "connect \(octets[6])" : "connect listed"
        case .leExtendedCreateConnection: return octets[0] == 0 ? "connect \(octets[3])" : "connect listed"
        default: return packet.opcode.description
        }
    }
}
