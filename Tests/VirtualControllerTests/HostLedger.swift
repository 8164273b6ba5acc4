import BLECore
import HCI
import Testing

/// What a host keeps account of: commands without an answer, its connections, and the buffers that its data
/// fill. Whatever comes from the controller must fit it.
struct HostLedger {
    /// The commands that were sent and not answered, oldest first.
    private(set) var unanswered: [HCIOpcode] = []
    /// The connections, and how many packets of each fill buffers.
    private(set) var buffered: [ConnectionHandle: Int] = [:]
    /// How many buffers there are.
    let buffers: Int

    init(buffers: Int) { self.buffers = buffers }

    var hasRoom: Bool { buffered.values.reduce(0, +) < buffers }

    /// A command is sent. A reset, if it is one, leaves nothing.
    mutating func send(_ command: HCICommandPacket) {
        unanswered.append(command.opcode)
        if command == Reset().packet { buffered = [:] }
    }

    /// Data are sent.
    mutating func sendData(on handle: ConnectionHandle) { buffered[handle, default: 0] += 1 }

    mutating func receive(_ packets: [HCIPacket]) {
        for packet in packets {
            switch packet {
            case .acl(let data): #expect(buffered[data.handle] != nil, "data of \(data.handle)")
            case .event(let packet):
                do throws(DecodeError) {
                    receive(try HCIEvent(packet))
                } catch {
                    Issue.record("an event that cannot be read: \(error)")
                }
            default: Issue.record("\(packet)")
            }
        }
    }

    private mutating func receive(_ event: HCIEvent) {
        switch event {
        case .commandComplete(let event): answer(event.opcode)
        case .commandStatus(let event): answer(event.opcode)
        case .leMeta(.connectionComplete(let event)) where event.status == .success:
            #expect(buffered.updateValue(0, forKey: event.connection) == nil)
        case .leMeta(.enhancedConnectionComplete(let event)) where event.status == .success:
            #expect(buffered.updateValue(0, forKey: event.connection) == nil)
        case .disconnectionComplete(let event): #expect(buffered.removeValue(forKey: event.connection) != nil)
        case .numberOfCompletedPackets(let event):
            for entry in event.completed {
                let before = buffered[entry.connection] ?? 0
                #expect((1...max(before, 1)).contains(Int(entry.count)), "of \(before) packets")
                buffered[entry.connection] = before - Int(entry.count)
            }
        case .dataBufferOverflow, .hardwareError: Issue.record("\(event)")
        default: break
        }
    }

    private mutating func answer(_ opcode: HCIOpcode) {
        #expect(unanswered.first == opcode)
        if !unanswered.isEmpty { unanswered.removeFirst() }
    }
}
