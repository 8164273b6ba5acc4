import BLECore
import HCI
import Recordings
import Testing
import VirtualController

/// Sends the recorded commands of other hosts to a virtual controller, which must answer as the recorded one.
struct HostSequenceTests {
    /// An answer to a command, without the values that differ between controllers.
    private struct Answer: Equatable, CustomStringConvertible {
        var code: HCIEventCode
        var opcode: HCIOpcode
        var status: HCIStatus
        var count: Int

        init?(_ packet: HCIPacket) {
            guard case .event(let packet) = packet, let event = try? HCIEvent(packet) else { return nil }
            (code, count) = (packet.code, packet.parameters.count)
            switch event {
            case .commandComplete(let complete):
                (opcode, status) = (complete.opcode, complete.status ?? .unspecifiedError)
            case .commandStatus(let refused): (opcode, status) = (refused.opcode, refused.status)
            default: return nil
            }
        }

        var description: String { "\(opcode): \(status), \(count) octets" }
    }

    /// Returns the recorded commands with their answers, in the order of the answers.
    private static func dialogue(
        _ file: RecordedFile, of adapter: UInt16
    ) throws -> [(command: HCICommandPacket, answer: Answer)] {
        var open: [HCICommandPacket] = []
        var all: [(HCICommandPacket, Answer)] = []
        for record in try file.records() where record.adapter == adapter {
            guard case .packet(_, let octets) = record.content else { continue }
            let packet = try HCIPacket(octets)
            if case .command(let command) = packet {
                open.append(command)
            } else if let answer = Answer(packet),
                let index = open.firstIndex(where: { $0.opcode == answer.opcode })
            {
                all.append((open.remove(at: index), answer))
            }
        }
        #expect(open.isEmpty)
        return all
    }

    /// A virtual controller with the packets for its host, and a second one that advertises and accepts
    /// connections.
    private struct Radio {
        static let lamp = DeviceAddress(0x00aa_0100_0000, type: .public)
        private var air = VirtualAir(seed: 1)
        private let peer, host: VirtualAir.ControllerID
        private var now = Instant.zero
        private var reported: [HCIPacket] = []

        init() throws {
            peer = air.add(.init(publicAddress: Self.lamp))
            host = air.add(
                .init(publicAddress: DeviceAddress(0x00aa_0101_0001, type: .public), extended: .init()))
            // The commands with which Linux initialized the controller were not recorded.
            try send(SetEventMask(mask: HCIEventMask(rawValue: .max)).packet, to: host)
            try send(LESetEventMask(mask: LEEventMask(rawValue: 0x1f_ffff)).packet, to: host)
            reported = []
            let slots = Slots(rawValue: 32)
            try send(
                LESetAdvertisingParameters(
                    intervalMin: slots, intervalMax: slots, ownAddressType: .public
                ).packet, to: peer)
            try advertise()
        }

        /// Makes the peer connectable.
        mutating func advertise() throws { try send(LESetAdvertisingEnable(enable: true).packet, to: peer) }

        /// Sends a command, and returns the packets that the host receives within half a second.
        mutating func send(_ command: HCICommandPacket) throws -> [HCIPacket] {
            try send(command, to: host)
            defer { reported = [] }
            return reported
        }

        private mutating func send(_ command: HCICommandPacket, to id: VirtualAir.ControllerID) throws {
            let octets = HCIPacket.command(command).encoded
            air.receive(octets.span, from: id, at: now)
            try drain()
            let end = now + .milliseconds(500)
            while let deadline = air.deadline, deadline <= end {
                now = max(now, deadline)
                air.expire(at: now)
                try drain()
            }
            now = end
        }

        private mutating func drain() throws {
            while let (id, packet) = air.nextPacket() {
                if id == host { reported.append(try HCIPacket(packet)) }
            }
        }
    }

    @Test(
        "the virtual controller answers Linux as recorded, for links of gatttool and of bletool",
        arguments: [("gatttool-bluetoothd", 1), ("gatt-bluetoothd", 3)])
    func linuxCommandsAreAnsweredAsRecorded(name: String, links: Int) throws {
        var radio = try Radio()
        var handle: ConnectionHandle?
        var (reports, connections, disconnections) = (0, 0, 0)
        for (command, answer) in try Self.dialogue(.fixture(name), of: 1) {
            var command = command
            if let handle, [.disconnect, .leReadRemoteFeatures].contains(command.opcode) {
                command = HCICommandPacket(
                    opcode: command.opcode,
                    parameters: [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(handle.rawValue >> 8)]
                        + command.parameters.dropFirst(2))
            }
            let reported = try radio.send(command)
            #expect(reported.compactMap(Answer.init) == [answer])
            for case .event(let packet) in reported {
                switch try HCIEvent(packet) {
                case .leMeta(.enhancedConnectionComplete(let event)):
                    #expect(event.peer == HCIAddress(Radio.lamp))
                    handle = event.connection
                    connections += 1
                case .disconnectionComplete:
                    disconnections += 1
                    try radio.advertise()
                case .leMeta(.extendedAdvertisingReports): reports += 1
                default: break
                }
            }
        }
        #expect(connections == links && disconnections == links)
        // Duplicates are filtered, so each scan has one report.
        #expect(reports == links)
    }

    @Test(
        "the virtual controller answers Android's LE commands as recorded, from start to advertising",
        .enabled(if: RecordedFile.Folder.captures.isThere))
    func androidCommandsAreAnsweredAsRecorded() throws {
        var radio = try Radio()
        var (known, unknown) = (0, 0)
        for (command, answer) in try Self.dialogue(.capture("btsnoop-extcap"), of: 0) {
            let reported = try radio.send(command).compactMap(Answer.init)
            #expect(reported.map(\.opcode) == [command.opcode])
            if reported.first?.status == .unknownCommand {
                unknown += 1
                // Only commands without use for LE, those of one vendor and those for isochronous channels
                // are unknown.
                #expect(
                    !"\(command.opcode)".hasPrefix("LE ")
                        || [.leReadBufferSizeV2, .leSetHostFeature].contains(command.opcode))
            } else {
                known += 1
                #expect(reported == [answer])
            }
        }
        #expect(known + unknown == 105)
        #expect(known == 35)
    }
}
