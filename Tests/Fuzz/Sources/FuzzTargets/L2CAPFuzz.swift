import BLECore
import HCI

/// For any fragments, a reassembled frame has at most 100 octets, the reassembler stores no more than that
/// and a header, and it receives a complete frame afterwards. For any frames on the signaling channel, the
/// answers can be decoded and fit the signaling MTU, and a reported parameter request is in range.
///
/// The input is a sequence of fragments: an octet with the boundary flag (2 bits) and the length (6 bits),
/// then that many octets.
public func fuzzL2CAP(_ bytes: Span<UInt8>) {
    var reassembler = ACLReassembler(maximumPayload: 100)
    var sides = [LESignaling(role: .central), LESignaling(role: .peripheral)]
    var reader = ByteReader(bytes, of: "input")
    while let head = try? reader.u8("fragment"),
        let fragment = try? reader.bytes(min(Int(head >> 2), reader.remaining), "fragment")
    {
        let boundary = ACLPacket.Boundary(rawValue: head & 0b11) ?? .complete
        var frames: [[UInt8]] = []
        try? reassembler.receive(boundary, fragment.span) { _, payload in
            frames.append([UInt8](copying: payload))
        }
        precondition(reassembler.pendingCount <= 4 + 100)
        for frame in frames {
            precondition(frame.count <= 100)
            for side in sides.indices { signal(frame, to: &sides[side]) }
        }
        signal(fragment, to: &sides[0])
    }
    var received = 0
    let whole: [UInt8] = [1, 0, 4, 0, 0x0a]
    try? reassembler.receive(.firstFlushable, whole.span) { channel, payload in
        precondition(channel == .att && payload.count == 1)
        received += 1
    }
    precondition(received == 1)
}

private func signal(_ frame: [UInt8], to side: inout LESignaling) {
    side.receive(frame.span, at: .zero)
    while let event = side.nextEvent() {
        if case .parameterUpdateRequested(let identifier, let parameters) = event {
            precondition(parameters.isInRange)
            side.answer(identifier, isAccepted: frame.count.isMultiple(of: 2))
        }
    }
    while true {
        var hasAnswer = false
        let answer = [UInt8](capacity: LESignaling.mtu) { hasAnswer = side.nextFrame(into: &$0, at: .zero) }
        guard hasAnswer else { break }
        guard let packet = try? LESignalingPDU(answer), (try? packet.message()) != nil else {
            preconditionFailure("an answer that cannot be read")
        }
    }
}
