import BLECore
import HCI
import VirtualController

/// For any packets of two hosts at any time, every packet of the air for a host can be decoded, every command
/// has exactly one answer, and nothing remains when the controllers are removed. Host Number Of Completed
/// Packets does not count, because it has an answer only if it is refused.
///
/// The input is a sequence of steps: an octet that determines which host sends (bit 0), whether the air's
/// packets are removed afterwards (bit 1) and how much time passes (6 bits, in steps of 5 ms), then an H4
/// packet. Both controllers begin with most events enabled and a random address, so that many states can be
/// reached. The second one supports the extended commands, and both do if the first octet has bit 7.
public func fuzzVirtualAir(_ bytes: Span<UInt8>) {
    var air = VirtualAir(seed: UInt64(bytes.count))
    let extended = VirtualController.Configuration(extended: .init())
    let ids = [air.add(bytes.isEmpty || bytes[0] < 0x80 ? .init() : extended), air.add(extended)]
    var now = Instant.zero
    var unanswered: [VirtualAir.ControllerID: Int] = [:]

    func send(_ packet: [UInt8], from id: VirtualAir.ControllerID) {
        if case .command(let command)? = try? HCIPacket(packet.span),
            command.opcode != .hostNumberOfCompletedPackets
        {
            unanswered[id, default: 0] += 1
        }
        air.receive(packet.span, from: id, at: now)
    }
    for (number, id) in ids.enumerated() {
        let address = DeviceAddress(0xc000_0000_0000 + UInt64(number), type: .random)
        for command in [
            SetEventMask(mask: HCIEventMask(rawValue: .max)).packet,
            SetEventMaskPage2(mask: [.authenticatedPayloadTimeoutExpired, .encryptionChangeV2]).packet,
            LESetEventMask(mask: LEEventMask(rawValue: 0xffff_fdff)).packet,
            LESetRandomAddress(address: address).packet,
        ] {
            send(HCIPacket.command(command).encoded, from: id)
        }
    }

    func take() {
        while let (id, packet) = air.nextPacket() {
            guard let packet = try? HCIPacket(packet.span) else { preconditionFailure("no packet") }
            guard case .event(let event) = packet else { continue }
            switch try? HCIEvent(event) {
            case .commandComplete(let event) where event.opcode == .hostNumberOfCompletedPackets: break
            case .commandComplete, .commandStatus: unanswered[id, default: 0] -= 1
            case nil: preconditionFailure("an event that cannot be read")
            default: break
            }
        }
        precondition(unanswered.values.allSatisfy { $0 == 0 })
    }
    var reader = ByteReader(bytes, of: "input")
    while let step = try? reader.u8("step"), let packet = nextPacket(&reader) {
        send(packet, from: ids[Int(step & 1)])
        now = now + .milliseconds(5 * Int64(step >> 2))
        air.expire(at: now)
        if step & 2 != 0 { take() }
    }
    now = now + .seconds(60)
    air.expire(at: now)
    take()
    for id in ids { air.remove(id, at: now) }
    precondition(air.deadline == nil && air.nextPacket() == nil)
}

/// Returns the next H4 packet of the input. It is truncated at the end of the input. An octet that is no
/// packet type is returned alone.
private func nextPacket(_ reader: inout ByteReader) -> [UInt8]? {
    guard let type = try? reader.u8("type") else { return nil }
    let widths: (header: Int, length: Int)? =
        switch HCIPacketType(rawValue: type) {
        case .command, .synchronous: (2, 1)
        case .acl, .iso: (2, 2)
        case .event: (1, 1)
        default: nil
        }
    guard let widths,
        let header = try? reader.bytes(min(widths.header + widths.length, reader.remaining), "header")
    else { return [type] }
    let length = header.dropFirst(widths.header).reversed().reduce(0) { $0 << 8 | Int($1) }
    let payload = (try? reader.bytes(min(length, reader.remaining), "payload")) ?? []
    return [type] + header + payload
}
