import BLECore
import HCI
import Testing

/// The state that a host records: commands without an answer, its connections, and the buffers that its data
/// occupy. All packets from the controller must agree with it.
struct HostLedger {
    /// The commands that were sent and not answered, oldest first.
    private(set) var unanswered: [HCIOpcode] = []
    /// The connections, and the number of buffers that the packets of each occupy.
    private(set) var buffered: [ConnectionHandle: Int] = [:]
    /// The number of the controller's buffers.
    let buffers: Int

    init(buffers: Int) { self.buffers = buffers }

    var hasRoom: Bool { buffered.values.reduce(0, +) < buffers }

    /// Records a command. Reset removes all connections.
    mutating func send(_ command: HCICommandPacket) {
        unanswered.append(command.opcode)
        if command == Reset().packet { buffered = [:] }
    }

    /// Records a data packet.
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
