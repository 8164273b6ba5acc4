import BLECore
import HCI
import Testing
import VirtualController

/// Two controllers whose hosts send random commands at any time, but data only if a buffer is free, and
/// sometimes receive no packets for a while.
@Suite struct RandomPairTests {
    /// Two controllers, and the random actions of their hosts.
    private struct Pair {
        var bench: Bench
        let ids: [ID]
        var ledgers: [ID: HostLedger] = [:]
        var random: SplitMix64
        let configuration: VirtualController.Configuration

        init(seed: UInt64) {
            random = SplitMix64(seed: seed)
            bench = Bench(
                seed: seed,
                conditions: seed % 2 == 0 ? .init() : .init(loss: 0.1, delay: .milliseconds(Int64(seed))))
            var configuration = VirtualController.Configuration(extended: seed < 4 ? nil : .init())
            configuration.aclPackets = UInt8(1 + seed % 5)
            configuration.aclPacketLength = 64
            self.configuration = configuration
            ids = [bench.air.add(configuration), bench.air.add(configuration)]
            for id in ids {
                ledgers[id] = HostLedger(buffers: Int(configuration.aclPackets))
                setUp(id)
            }
        }

        mutating func setUp(_ id: ID) {
            send(SetEventMask(mask: HCIEventMask(rawValue: .max)).packet, on: id)
            send(
                SetEventMaskPage2(mask: [.authenticatedPayloadTimeoutExpired, .encryptionChangeV2]).packet,
                on: id)
            send(LESetEventMask(mask: LEEventMask(rawValue: 0xff_ffff)).packet, on: id)
            send(LESetRandomAddress(address: bench.address(id)).packet, on: id)
        }

        mutating func send(_ command: HCICommandPacket, on id: ID) {
            take()
            ledgers[id]?.send(command)
            bench.send(.command(command), on: id)
            take()
        }

        /// Enters the packets that have arrived into the ledgers.
        mutating func take() {
            for id in ids { ledgers[id]?.receive(bench.packets(id)) }
        }

        /// Returns a random command, sometimes with an octet too many or too few.
        mutating func command() -> HCICommandPacket {
            let isExtended = configuration.extended != nil && UInt8.random(in: 0..<3, using: &random) > 0
            let command =
                isExtended
                ? RandomHostTests.extendedCommand(&random) : RandomHostTests.command(&random)
            let parameters =
                switch UInt8.random(in: 0..<12, using: &random) {
                case 0: command.parameters + [0]
                case 1: Array(command.parameters.dropLast())
                default: command.parameters
                }
            return HCICommandPacket(opcode: command.opcode, parameters: parameters)
        }

        /// Sends data on a random connection, if there is one and a buffer is free.
        mutating func sendData(on id: ID) {
            guard let ledger = ledgers[id], ledger.hasRoom,
                let handle = ledger.buffered.keys.sorted(by: { $0.rawValue < $1.rawValue })
                    .randomElement(using: &random)
            else { return }
            let boundary = ACLPacket.Boundary(rawValue: .random(in: 0...3, using: &random)) ?? .complete
            let data = [UInt8](repeating: 7, count: .random(in: 0...64, using: &random))
            ledgers[id]?.sendData(on: handle)
            bench.send(.acl(ACLPacket(handle: handle, boundary: boundary, data: data)), on: id)
        }

        /// Lets one host advertise and the other connect, in any state. In one of four cases, both reset first.
        mutating func connect() {
            if UInt8.random(in: 0..<4, using: &random) == 0 {
                for id in ids {
                    send(Reset().packet, on: id)
                    setUp(id)
                }
            }
            if configuration.extended == nil {
                let slots = Slots(rawValue: 32)
                send(
                    LESetAdvertisingParameters(
                        intervalMin: slots, intervalMax: slots, ownAddressType: .random
                    ).packet, on: ids[0])
                send(LESetAdvertisingEnable(enable: true).packet, on: ids[0])
                send(bench.creation(to: ids[0]).packet, on: ids[1])
            } else {
                let parameters = Bench.parameters(0, .connectable)
                send(parameters.packet, on: ids[0])
                send(
                    LESetAdvertisingSetRandomAddress(set: parameters.set, address: bench.address(ids[0]))
                        .packet, on: ids[0])
                send(Bench.enabling().packet, on: ids[0])
                send(bench.extendedCreation(to: ids[0]).packet, on: ids[1])
            }
            run(for: .milliseconds(150))
        }

        mutating func run(for duration: Duration) {
            bench.run(for: duration)
            // All events that were due have been processed.
            #expect(bench.air.deadline.map { $0 > bench.now } ?? true)
            take()
        }

        mutating func step() {
            let id = Bool.random(using: &random) ? ids[0] : ids[1]
            switch UInt8.random(in: 0..<20, using: &random) {
            case 0, 1, 2: run(for: .milliseconds(Int64.random(in: 0...60, using: &random)))
            case 3, 4, 5, 6: sendData(on: id)
            case 7:
                bench.withoutReceiver = bench.withoutReceiver.isEmpty ? [id] : []
                bench.drain()
            case 8: connect()
            case 9 where UInt8.random(in: 0..<8, using: &random) == 0:
                bench.setRSSI(Bool.random(using: &random) ? -60 : nil, between: ids[0], and: ids[1])
            default:
                let command = command()
                send(command, on: id)
                // The test needs all events, so it sets the masks again.
                if [.reset, .setEventMask, .leSetEventMask].contains(command.opcode) { setUp(id) }
            }
            take()
        }
    }

    /// Every command has exactly one answer, in the order of the commands. No host that respects the buffers
    /// receives an overflow event. Only packets that were sent are reported as completed. No event that was due
    /// remains.
    @Test(arguments: 0..<16 as Range<UInt64>) func commandsAndBuffersAreAccountedFor(_ seed: UInt64) {
        var pair = Pair(seed: seed)
        var links = 0
        for _ in 0..<2000 {
            let before = pair.ledgers.values.reduce(0) { $0 + $1.buffered.count }
            pair.step()
            links += max(pair.ledgers.values.reduce(0) { $0 + $1.buffered.count } - before, 0)
        }
        #expect(links > 3, "there was something to account for")
        // If the hosts receive packets and are in range, all commands are answered and all buffers are freed.
        pair.bench.withoutReceiver = []
        pair.bench.setRSSI(-50, between: pair.ids[0], and: pair.ids[1])
        pair.bench.drain()
        pair.run(for: .seconds(60))
        for ledger in pair.ledgers.values {
            #expect(ledger.unanswered.isEmpty)
            #expect(ledger.buffered.values.allSatisfy { $0 == 0 })
        }
    }

    /// After Reset a controller cannot be distinguished from one that has just been switched on.
    @Test(arguments: 0..<16 as Range<UInt64>) func resetRestoresFreshControllerState(_ seed: UInt64) throws {
        var pair = Pair(seed: seed)
        for _ in 0..<6 {
            for _ in 0..<150 { pair.step() }
            pair.bench.withoutReceiver = []
            pair.bench.drain()
            pair.take()
            for id in pair.ids {
                pair.send(Reset().packet, on: id)
                let controller = try #require(pair.bench.air.controller(id))
                #expect(!controller.isActive && controller.connections.isEmpty && controller.deadline == nil)
                let found = Self.settings(id, &pair.bench)
                var fresh = Bench()
                #expect(found == Self.settings(fresh.air.add(pair.configuration), &fresh))
            }
            pair.bench.run(for: .seconds(30))
            for id in pair.ids { #expect(pair.bench.packets(id).isEmpty) }
            for id in pair.ids { pair.setUp(id) }
        }
    }

    /// Returns the answers to commands that depend on the settings of a controller: their statuses and return
    /// parameters. None of the commands has an effect on another controller.
    private static func settings(_ id: ID, _ bench: inout Bench) -> [String] {
        let absent = HCIAddress(0xc000_0000_0099, type: .random)
        let train = PeriodicAdvertiser(address: absent, sid: 0)
        let off = HCIFlag(rawValue: 0)
        let commands: [HCICommandPacket] = [
            LEReadSuggestedDefaultDataLength().packet, LECreateConnectionCancel().packet,
            LEPeriodicAdvertisingCreateSyncCancel().packet,
            LERemoveDeviceFromPeriodicAdvertiserList(advertiser: train).packet,
            LERemoveDeviceFromResolvingList(peer: absent).packet,
            LESetExtendedAdvertisingEnable(enable: off, sets: [.init(set: Bench.set(0))]).packet,
            LERemoveAdvertisingSet(set: Bench.set(0)).packet,
            LESetAddressResolutionEnable(enable: off).packet,
            LESetAdvertisingEnable(enable: true).packet, LESetScanEnable(enable: true).packet,
            LESetExtendedScanEnable(enable: true).packet,
        ]
        return commands.map { "\($0.opcode): \(bench.answer($0, on: id))" }
    }
}
