import BLECore
import HCI

/// One thing that a user of some hosts does, or the radio. Each begins when the one before has begun. What makes no sense, as
/// to end what has not begun, does nothing: so every part of a sequence is one, too.
enum HostStep: Hashable, Sendable {
    case advertise(Int)
    case stopAdvertising(Int)
    case scan(Int)
    case stopScan(Int)
    /// The first connects to the second and waits for it for as long as it takes; at most two users do.
    case connect(Int, to: Int)
    /// The one who connected last disconnects, or waits no more.
    case leave(Int, from: Int)
    /// The second ends the link of the first, which is a central.
    case expel(Int, by: Int)
    case subscribe(Int, to: Int)
    case unsubscribe(Int, from: Int)
    case write(Int, to: Int)
    /// They are out of each other's range.
    case separate(Int, Int)
    case reunite(Int, Int)
    /// The controller does something else with the next such command.
    case meddle(Int, Command, Fault)
    case wait(milliseconds: Int)

    enum Command: CaseIterable {
        case advertise, scan, connect, cancel, disconnect
    }

    enum Fault: CaseIterable {
        case refusal, delay, silence, repetition
    }
}

extension HostStep {
    /// A sequence for hosts of these numbers.
    static func sequence(
        of count: Int, hosts: Int, faults: Bool, _ random: inout SplitMix64
    ) -> [HostStep] {
        (0..<count).map { _ in step(hosts: hosts, faults: faults, &random) }
    }

    private static func step(hosts: Int, faults: Bool, _ random: inout SplitMix64) -> HostStep {
        let one = Int.random(in: 0..<hosts, using: &random)
        let other = (one + Int.random(in: 1..<hosts, using: &random)) % hosts
        switch Int.random(in: 0..<(faults ? 36 : 32), using: &random) {
        case 0..<4: return .advertise(one)
        case 4: return .stopAdvertising(one)
        case 5, 6: return .scan(one)
        case 7: return .stopScan(one)
        case 8..<13: return .connect(one, to: other)
        case 13, 14: return .leave(one, from: other)
        case 15: return .expel(one, by: other)
        case 16, 17: return .subscribe(one, to: other)
        case 18: return .unsubscribe(one, from: other)
        case 19: return .write(one, to: other)
        case 20: return .separate(one, other)
        case 21: return .reunite(one, other)
        case 22..<32:
            return .wait(milliseconds: [0, 0, 1, 10, 100, 1000, 7000].randomElement(using: &random) ?? 0)
        default:
            return .meddle(
                one, Command.allCases.randomElement(using: &random) ?? .scan,
                Fault.allCases.randomElement(using: &random) ?? .delay)
        }
    }

    /// The fewest steps of these of which `fails` still holds, as far as leaving some out shows.
    static func fewest(
        of steps: [HostStep], where fails: ([HostStep]) async throws -> Bool
    ) async rethrows -> [HostStep] {
        var steps = steps
        var length = steps.count / 2
        while length > 0 {
            var start = 0
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + length, steps.count))
                if try await fails(fewer) { steps = fewer } else { start += length }
            }
            length /= 2
        }
        return steps
    }
}

extension HostStep.Command {
    /// The commands of either family.
    var opcodes: [HCIOpcode] {
        switch self {
        case .advertise: [.leSetAdvertisingEnable, .leSetExtendedAdvertisingEnable]
        case .scan: [.leSetScanEnable, .leSetExtendedScanEnable]
        case .connect: [.leCreateConnection, .leExtendedCreateConnection]
        case .cancel: [.leCreateConnectionCancel]
        case .disconnect: [.disconnect]
        }
    }
}

extension HostStep.Fault {
    func behavior(for opcode: HCIOpcode) -> ScriptedPort.Behavior {
        switch self {
        case .refusal where [.leCreateConnection, .leExtendedCreateConnection, .disconnect].contains(opcode):
            .says([CommandStatus(status: .commandDisallowed, opcode: opcode).packet])
        case .refusal: .refuses(opcode, .commandDisallowed)
        case .delay: .late(.milliseconds(1500))
        case .silence: .silence
        case .repetition: .twice
        }
    }
}
