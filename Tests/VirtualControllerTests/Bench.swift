import BLECore
import HCI
import Testing
import VirtualController

typealias ID = VirtualController.ID

/// Controllers on an air, the hosts' side of each, and virtual time.
struct Bench {
    var air: VirtualAir
    private(set) var now = Instant.zero
    private var inbox: [ID: [HCIPacket]] = [:]
    /// The controllers whose hosts receive no packets.
    var withoutReceiver: Set<ID> = []

    init(seed: UInt64 = 1, conditions: VirtualAir.Conditions = .init()) {
        air = VirtualAir(seed: seed, conditions: conditions)
    }

    /// Adds a controller whose host enables all events of the legacy family. The random address contains the
    /// number of the controller: `C0:00:00:00:00:01`.
    mutating func join(_ configuration: VirtualController.Configuration = .init()) -> ID {
        let id = air.add(configuration)
        setUp(id)
        return id
    }

    mutating func setUp(_ id: ID) {
        perform(SetEventMask(mask: HCIEventMask(rawValue: .max)), on: id)
        perform(LESetEventMask(mask: LEEventMask(rawValue: 0x1ff)), on: id)
        perform(LESetRandomAddress(address: address(id)), on: id)
    }

    /// Returns the random address that `setUp` sets.
    func address(_ id: ID) -> DeviceAddress { DeviceAddress(0xc000_0000_0000 + id.number, type: .random) }

    // MARK: Packets

    mutating func send(_ packet: HCIPacket, on id: ID) {
        let bytes = packet.encoded
        air.receive(bytes.span, from: id, at: now)
        drain()
    }

    mutating func drain() {
        if withoutReceiver.isEmpty {
            while let (id, packet) = air.nextPacket() { keep(packet, for: id) }
            return
        }
        var isDrained = false
        while !isDrained {
            isDrained = true
            for id in air.controllers where !withoutReceiver.contains(id) {
                while let packet = air.nextPacket(for: id) {
                    isDrained = false
                    keep(packet, for: id)
                }
            }
        }
    }

    private mutating func keep(_ packet: [UInt8], for id: ID) {
        do throws(DecodeError) {
            inbox[id, default: []].append(try HCIPacket(packet))
        } catch {
            Issue.record("\(id) sent its host what is no packet: \(error)")
        }
    }

    /// Returns all packets that the host of `id` has received since the last call.
    mutating func packets(_ id: ID) -> [HCIPacket] { inbox.removeValue(forKey: id) ?? [] }

    /// Returns the events that the host of `id` has received since the last call. Its data remain.
    mutating func events(_ id: ID) -> [HCIEvent] {
        let all = packets(id)
        inbox[id] = all.filter { if case .event = $0 { false } else { true } }
        return all.compactMap { if case .event(let event) = $0 { try? HCIEvent(event) } else { nil } }
    }

    /// Returns the data that the host of `id` has received since the last call. Its events remain.
    mutating func data(_ id: ID) -> [ACLPacket] {
        let all = packets(id)
        inbox[id] = all.filter { if case .acl = $0 { false } else { true } }
        return all.compactMap { if case .acl(let packet) = $0 { packet } else { nil } }
    }

    // MARK: Commands

    /// Sends a command and removes its answer from the inbox: the status and the parameters after it.
    mutating func answer(
        _ packet: HCICommandPacket, on id: ID, sourceLocation: SourceLocation = #_sourceLocation
    ) -> (status: HCIStatus, returned: [UInt8]) {
        send(.command(packet), on: id)
        let all = inbox[id] ?? []
        let answers = all.compactMap { $0.answer(to: packet.opcode) }
        inbox[id] = all.filter { $0.answer(to: packet.opcode) == nil }
        #expect(answers.count == 1, "answers to \(packet.opcode)", sourceLocation: sourceLocation)
        return answers.first ?? (.unspecifiedError, [])
    }

    /// Sends a command and returns its status.
    mutating func status(
        _ command: some HCICommand, on id: ID, sourceLocation: SourceLocation = #_sourceLocation
    ) -> HCIStatus {
        answer(command.packet, on: id, sourceLocation: sourceLocation).status
    }

    /// Sends a command that must succeed.
    mutating func perform(
        _ command: some HCICommand, on id: ID, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let status = status(command, on: id, sourceLocation: sourceLocation)
        #expect(status == .success, "\(type(of: command))", sourceLocation: sourceLocation)
    }

    /// Sends a command that must succeed, and returns its return parameters.
    mutating func ask<Command: HCICommand>(
        _ command: Command, on id: ID, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Command.ReturnParameters {
        let (status, returned) = answer(command.packet, on: id, sourceLocation: sourceLocation)
        #expect(status == .success, sourceLocation: sourceLocation)
        return try Command.ReturnParameters(returned)
    }

    // MARK: Time

    /// Advances the time by `duration`, from one deadline to the next.
    mutating func run(for duration: Duration) {
        let end = now + duration
        while let deadline = air.deadline, deadline <= end {
            now = max(now, deadline)
            air.expire(at: now)
            drain()
        }
        now = end
        air.expire(at: now)
        drain()
    }

    mutating func remove(_ id: ID) {
        air.remove(id, at: now)
        drain()
    }

    mutating func setRSSI(_ rssi: Int8?, between one: ID, and other: ID) {
        air.setRSSI(rssi, between: one, and: other, at: now)
        drain()
    }
}

extension HCIPacket {
    /// Returns the status and the return parameters, if this is the answer to a command with the opcode.
    func answer(to opcode: HCIOpcode) -> (status: HCIStatus, returned: [UInt8])? {
        guard case .event(let packet) = self else { return nil }
        switch try? HCIEvent(packet) {
        case .commandComplete(let event) where event.opcode == opcode:
            return (event.status ?? .unspecifiedError, Array(event.returnParameters.dropFirst()))
        case .commandStatus(let event) where event.opcode == opcode: return (event.status, [])
        default: return nil
        }
    }
}
