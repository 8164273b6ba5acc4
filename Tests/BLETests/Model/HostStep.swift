import BLECore
import HCI

/// An operation of a host's user, or an event of the radio. Each step begins when the previous one has begun.
/// A step that does not apply, such as the end of something that has not begun, has no effect, so every part
/// of a sequence is also a sequence.
enum HostStep: Hashable, Sendable {
    case advertise(Int)
    case stopAdvertising(Int)
    case scan(Int)
    case stopScan(Int)
    /// The first connects to the second without a time limit. At most two users of a host connect to the same device.
    case connect(Int, to: Int)
    /// The user that connected last disconnects, or cancels its connect.
    case leave(Int, from: Int)
    /// The second ends the link of the first, which is a central.
    case expel(Int, by: Int)
    case subscribe(Int, to: Int)
    case unsubscribe(Int, from: Int)
    case write(Int, to: Int)
    /// The user that connected last pairs with the second.
    case pair(Int, to: Int)
    /// The controller reports a hardware failure.
    case fail(Int)
    /// The two hosts are out of each other's range.
    case separate(Int, Int)
    case reunite(Int, Int)
    /// The controller misbehaves with the next such command.
    case alter(Int, Command, Fault)
    case wait(milliseconds: Int)

    enum Command: CaseIterable {
        case advertise, scan, connect, cancel, disconnect
    }

    enum Fault: CaseIterable {
        case refusal, delay, silence, repetition
    }
}

extension HostStep {
    /// Returns a random sequence of `count` steps for `hosts` hosts.
    static func sequence(
        of count: Int, hosts: Int, _ setting: HostSetting, _ random: inout SplitMix64
    ) -> [HostStep] {
        (0..<count).map { _ in step(hosts: hosts, setting, &random) }
    }

    private static func step(
        hosts: Int, _ setting: HostSetting, _ random: inout SplitMix64
    ) -> HostStep {
        let one = Int.random(in: 0..<hosts, using: &random)
        let other = (one + Int.random(in: 1..<hosts, using: &random)) % hosts
        switch Int.random(in: 0..<(setting.hasFaults ? 37 : 32), using: &random) {
        case 0..<4: return .advertise(one)
        case 4: return .stopAdvertising(one)
        case 5, 6: return .scan(one)
        case 7: return .stopScan(one)
        case 8..<13: return .connect(one, to: other)
        case 13, 14: return .leave(one, from: other)
        case 15: return .expel(one, by: other)
        case 16, 17: return .subscribe(one, to: other)
        case 18: return .unsubscribe(one, from: other)
        case 28 where setting.world == .pairing, 29 where setting.world == .pairing:
            return .pair(one, to: other)
        case 19: return .write(one, to: other)
        case 20: return .separate(one, other)
        case 21: return .reunite(one, other)
        case 22..<32:
            return .wait(milliseconds: [0, 0, 1, 10, 100, 1000, 7000].randomElement(using: &random) ?? 0)
        case 36: return .fail(one)
        default:
            return .alter(
                one, Command.allCases.randomElement(using: &random) ?? .scan,
                Fault.allCases.randomElement(using: &random) ?? .delay)
        }
    }

    /// Returns a part of the steps for which `fails` still holds. It is found by leaving out runs of steps,
    /// so it need not be the shortest.
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
    /// The legacy and the extended form of the command.
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
            .sends([CommandStatus(status: .commandDisallowed, opcode: opcode).packet])
        case .refusal: .refuses(opcode, .commandDisallowed)
        case .delay: .late(.milliseconds(1500))
        case .silence: .silence
        case .repetition: .twice
        }
    }
}
