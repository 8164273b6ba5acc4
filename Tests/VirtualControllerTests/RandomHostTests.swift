import BLECore
import HCI
import Testing
import VirtualController

@Suite struct RandomHostTests {
    /// Returns a random command: mostly a supported one, with parameters that are often in range.
    static func command(_ random: inout SplitMix64) -> HCICommandPacket {
        let connection = ConnectionHandle(UInt16.random(in: 0x3f...0x44, using: &random))
        let address = HCIAddress(
            0xc000_0000_0000 + UInt64.random(in: 0...4, using: &random),
            type: HCIAddressType(rawValue: .random(in: 0...2, using: &random)))
        let flag = HCIFlag(rawValue: .random(in: 0...2, using: &random))
        let own = OwnAddressType(rawValue: .random(in: 0...2, using: &random))
        var parameters = Bench.parameters
        parameters.latency = [0, 0, 1, 600].randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<31, using: &random) {
        case 0: return LESetRandomAddress(address: DeviceAddress(address.value, type: .random)).packet
        case 1, 2:
            return LESetAdvertisingParameters(
                intervalMin: Slots(rawValue: 32), intervalMax: Slots(rawValue: 64),
                type: AdvertisingType(rawValue: .random(in: 0...5, using: &random)), ownAddressType: own,
                peer: address,
                filterPolicy: AdvertisingFilterPolicy(rawValue: .random(in: 0...4, using: &random))
            ).packet
        case 3, 4, 5: return LESetAdvertisingEnable(enable: flag).packet
        case 6:
            return LESetScanParameters(
                type: ScanType(rawValue: .random(in: 0...2, using: &random)), interval: Slots(rawValue: 32),
                window: Slots(rawValue: .random(in: 3...33, using: &random)), ownAddressType: own,
                filterPolicy: ScanFilterPolicy(rawValue: .random(in: 0...2, using: &random))
            ).packet
        case 7, 8: return LESetScanEnable(enable: flag, filterDuplicates: flag).packet
        case 9, 10, 11:
            return LECreateConnection(
                scanInterval: Slots(rawValue: 16), scanWindow: Slots(rawValue: 16),
                filterPolicy: InitiatorFilterPolicy(rawValue: .random(in: 0...2, using: &random)),
                peer: address, ownAddressType: own, parameters: parameters
            ).packet
        case 12: return LECreateConnectionCancel().packet
        case 13: return LEAddDeviceToFilterAcceptList(device: address).packet
        case 14: return LERemoveDeviceFromFilterAcceptList(device: address).packet
        case 15: return LEClearFilterAcceptList().packet
        case 16: return Disconnect(connection: connection).packet
        case 17: return LEConnectionUpdate(connection: connection, parameters: parameters).packet
        case 18: return LEReadRemoteFeatures(connection: connection).packet
        case 19: return ReadRemoteVersionInformation(connection: connection).packet
        case 20:
            return LESetDataLength(connection: connection, transmit: DataLength(octets: 99, time: 999)).packet
        case 21: return ReadRSSI(connection: connection).packet
        case 22: return LESetHostChannelClassification(channels: .all).packet
        case 23: return SetEventMask(mask: HCIEventMask(rawValue: random.next())).packet
        case 24 where UInt8.random(in: 0..<4, using: &random) == 0: return Reset().packet
        case 25, 26:
            return LEEnableEncryption(
                connection: connection, random: 1, diversifier: 2, key: key(&random)
            ).packet
        case 27, 28: return LELongTermKeyRequestReply(connection: connection, key: key(&random)).packet
        case 29:
            return UInt8.random(in: 0..<2, using: &random) == 0
                ? LELongTermKeyRequestNegativeReply(connection: connection).packet
                : WriteAuthenticatedPayloadTimeout(
                    connection: connection,
                    timeout: Centiseconds(rawValue: .random(in: 0...9, using: &random))
                ).packet
        default:
            // Any opcode, any octets.
            return HCICommandPacket(
                opcode: HCIOpcode(
                    ogf: [1, 3, 4, 5, 8, 0x3f].randomElement(using: &random) ?? 0,
                    ocf: .random(in: 0...0x80, using: &random)),
                parameters: (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    .random(in: 0...255, using: &random)
                })
        }
    }

    /// Returns the same key in 15 of 16 cases.
    private static func key(_ random: inout SplitMix64) -> UInt128 {
        UInt8.random(in: 0..<16, using: &random) == 0 ? 2 : 1
    }

    /// Returns the opcodes of the commands that the packets answer.
    static func answers(_ packets: [HCIPacket]) -> [HCIOpcode] {
        packets.compactMap { packet in
            guard case .event(let event) = packet else { return nil }
            switch try? HCIEvent(event) {
            case .commandComplete(let event): return event.opcode
            case .commandStatus(let event): return event.opcode
            default: return nil
            }
        }
    }

    /// For any packets from hosts, every command has exactly one answer, and every packet to a host can be
    /// decoded. Every reported connection ends at most once, and carries data only until then.
    @Test(arguments: 0..<18) func everyCommandHasOneAnswer(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var bench = Bench(
            seed: seed,
            conditions: seed % 3 == 0 ? .init() : .init(loss: 0.2, delay: .milliseconds(Int64(seed))))
        // From seed 12 on, the hosts are of both families.
        let isExtended = seed >= 12
        let ids =
            isExtended
            ? [bench.joinExtended(), bench.joinExtended(), bench.join()]
            : [bench.join(), bench.join(), bench.join()]
        var open: [ID: Set<ConnectionHandle>] = [:]
        for _ in 0..<2500 {
            guard let id = ids.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<10, using: &random) {
            case 0: bench.run(for: .milliseconds(Int64.random(in: 0...60, using: &random)))
            case 1:
                bench.send(
                    .acl(
                        ACLPacket(
                            handle: ConnectionHandle(UInt16.random(in: 0x3f...0x42, using: &random)),
                            boundary: ACLPacket.Boundary(rawValue: .random(in: 0...3, using: &random))
                                ?? .complete, data: [1, 2, 3])), on: id)
            case 2:
                let peer = ids.randomElement(using: &random) ?? id
                bench.setRSSI(Bool.random(using: &random) ? -50 : nil, between: id, and: peer)
            case 3:
                let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                // A well-formed command would have an answer.
                guard bytes.first != 1 else { continue }
                bench.air.receive(bytes.span, from: id, at: bench.now)
                bench.drain()
            default:
                let command =
                    isExtended && UInt8.random(in: 0..<3, using: &random) > 0
                    ? Self.extendedCommand(&random) : Self.command(&random)
                bench.send(.command(command), on: id)
                let packets = bench.packets(id)
                #expect(Self.answers(packets) == [command.opcode])
                Self.check(packets, &open[id, default: []])
                // The test needs all events, so it sets the masks again.
                if [.reset, .setEventMask, .leSetEventMask].contains(command.opcode) {
                    if command.opcode == .reset { open[id] = [] }
                    bench.perform(SetEventMask(mask: HCIEventMask(rawValue: .max)), on: id)
                    bench.perform(
                        LESetEventMask(mask: LEEventMask(rawValue: isExtended ? 0xff_ffff : 0x3ff)), on: id)
                }
            }
            for id in ids {
                let packets = bench.packets(id)
                #expect(Self.answers(packets).isEmpty)
                Self.check(packets, &open[id, default: []])
            }
        }
        // After the others are removed, all connections of the last controller end.
        bench.remove(ids[0])
        bench.remove(ids[1])
        bench.run(for: .seconds(60))
        Self.check(bench.packets(ids[2]), &open[ids[2], default: []])
        #expect(open[ids[2]] == [])
    }

    /// Checks packets to a host against its open connections, and updates them.
    static func check(_ packets: [HCIPacket], _ open: inout Set<ConnectionHandle>) {
        for packet in packets {
            switch packet {
            case .acl(let data): #expect(open.contains(data.handle))
            case .event(let packet):
                switch try? HCIEvent(packet) {
                case .leMeta(.connectionComplete(let event)) where event.status == .success:
                    #expect(open.insert(event.connection).inserted)
                case .leMeta(.enhancedConnectionComplete(let event)) where event.status == .success:
                    #expect(open.insert(event.connection).inserted)
                case .disconnectionComplete(let event): #expect(open.remove(event.connection) != nil)
                case nil: Issue.record("an event that cannot be read: \(packet)")
                default: break
                }
            default: Issue.record("\(packet)")
            }
        }
    }
}
