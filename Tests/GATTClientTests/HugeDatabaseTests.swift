import ATT
import BLECore
import GATTClient
import Testing

/// A database of 32,767 services, the most that fit with two handles each: a declaration and an include. The work grows with the number of
/// responses, not with its square.
@Test func thirtyThousandServicesAreDiscovered() throws {
    var procedure = DiscoverDatabase()
    var requests = 0
    while true {
        switch try procedure.next(mtu: 517) {
        case .done(let database):
            #expect(database.services.count == 32_767)
            #expect(
                database.services.allSatisfy {
                    $0.includes.map(\.handle.rawValue) == [$0.handle.rawValue + 1]
                })
            #expect(requests < 2000)
            return
        case .ask(let request):
            requests += 1
            try procedure.receive(answer(request))
        }
    }
}

/// Returns the response of a server with a service at every odd handle. Each service has two handles, of which
/// the second includes the first service.
private func answer(_ request: ATTRequest) throws -> ATTResponse {
    func wire(_ numbers: UInt16...) -> [UInt8] {
        numbers.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    }
    func list(_ head: [UInt8], _ range: AttributeRange, _ entry: (UInt16) -> [UInt8]?) throws -> ATTResponse {
        var entries: [[UInt8]] = []
        for handle in range.start.rawValue...range.end.rawValue {
            if entries.count == 60 { break }
            guard let found = entry(handle) else { continue }
            entries.append(found)
        }
        guard !entries.isEmpty else {
            return .error(ATTErrorResponse(request.opcode, range.start, .attributeNotFound))
        }
        return try ATTResponse(head + entries.joined())
    }
    switch request {
    case .readByGroupType(let range, 0x2800):
        return try list([0x11, 6], range) {
            $0.isMultiple(of: 2) || $0 == 0xffff ? nil : wire($0, $0 + 1, 0x180f)
        }
    case .readByType(let range, 0x2802):
        return try list([0x09, 8], range) { $0.isMultiple(of: 2) ? wire($0, 1, 2, 0x180f) : nil }
    case .readByType(let range, _), .readByGroupType(let range, _), .findInformation(let range):
        return .error(ATTErrorResponse(request.opcode, range.start, .attributeNotFound))
    default: return .error(ATTErrorResponse(request.opcode, .none, .requestNotSupported))
    }
}
