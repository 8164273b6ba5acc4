import ATT
import BLECore

/// A PDU that can be decoded encodes to the same octets, and its lists can be enumerated. A bearer that
/// receives the PDU while its own request is pending answers a request with one PDU, an indication with one,
/// and anything else with none, and it stays open.
public func fuzzATTPDU(_ bytes: Span<UInt8>) {
    let octets = [UInt8](copying: bytes)
    if let pdu = try? ATTPDU(bytes) {
        precondition(pdu.encoded == octets && pdu.encodedCount == octets.count)
        precondition(pdu.opcode.rawValue == octets.first && pdu.opcode.kind != nil)
        walk(pdu)
    }
    _ = try? ServiceDeclaration(bytes)
    _ = try? IncludeDeclaration(bytes)
    _ = try? CharacteristicDeclaration(bytes)
    _ = try? CharacteristicPresentationFormat(bytes)
    fuzzBearer(bytes)
}

private func walk(_ pdu: ATTPDU) {
    switch pdu {
    case .response(.findInformation(let list)): walk(list)
    case .response(.findByTypeValue(let list)): walk(list)
    case .response(.readByType(let list)): walk(list)
    case .response(.readByGroupType(let list)): walk(list)
    case .response(.readMultipleVariable(let list)): walk(list)
    case .unsolicited(.multipleNotification(let list)): walk(list)
    default: break
    }
}

private func walk(_ list: ATTEntryList<some ATTEntry>) {
    precondition(!list.isEmpty)
    precondition(list.map(\.length) == [Int](repeating: list.entryLength, count: list.count))
}

private func walk(_ list: ATTTupleList<some ATTTuple>) {
    for (position, tuple) in list.enumerated() {
        precondition(tuple.value.count <= tuple.length)
        precondition(!tuple.isTruncated || position == list.count - 1)
    }
}

private func fuzzBearer(_ bytes: Span<UInt8>) {
    var bearer = ATTBearer()
    guard (try? bearer.request(.readByType(.all, type: 0x2803))) != nil else {
        preconditionFailure("the first request is refused")
    }
    _ = frames { bearer.nextFrame(into: &$0, at: .zero) }
    bearer.receive(bytes, at: .zero)
    var isRequest = false
    while let event = bearer.nextEvent() {
        switch event {
        case .request(let request):
            isRequest = true
            let error = ATTErrorResponse(request.opcode, .none, .unlikelyError)
            precondition((try? bearer.respond(.error(error))) == true)
        case .unsolicited(.indication): bearer.confirm()
        case .failed, .response: precondition(ATTOpcode(bytes[0]).kind == .response)
        case .command, .unsolicited, .mtu: break
        case .confirmed, .overdue, .ready, .closed: preconditionFailure("\(event)")
        }
    }
    let answers = frames { bearer.nextFrame(into: &$0, at: .zero) }
    precondition(bearer.closure == nil)
    let opcode = bytes.isEmpty ? nil : ATTOpcode(bytes[0])
    switch opcode?.kind {
    case .request: precondition(answers.count == 1 && ATTOpcode(answers[0][0]).kind == .response)
    case .unsolicited where opcode == .handleValueIndication: precondition(answers == [[0x1e]])
    case nil where opcode?.isCommand == false: precondition(answers.count == 1 && answers[0][4] == 0x06)
    default: precondition(answers.isEmpty && !isRequest)
    }
}

/// Returns all PDUs that a bearer has to send.
func frames(_ next: (inout OutputSpan<UInt8>) -> Bool) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var isThere = true
    while isThere {
        let frame = [UInt8](capacity: ATTMTU.maximum.octets) {
            isThere = next(&$0)
        }
        if isThere { frames.append(frame) }
    }
    return frames
}
