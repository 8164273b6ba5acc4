import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

/// The requests that the client must send and the responses of the server, as PDUs in hexadecimal.
typealias Dialogue = [(ask: String, answer: String)]

/// Runs a procedure against a server that follows a script. Additional and missing requests are issues.
@discardableResult
func run<Procedure: GATTProcedure>(
    _ procedure: Procedure, mtu: Int = 23, _ dialogue: Dialogue, location: SourceLocation = #_sourceLocation
) throws -> Procedure.Output {
    var procedure = procedure
    var rest = dialogue[...]
    defer { #expect(rest.isEmpty, "not asked: \(rest.map(\.ask))", sourceLocation: location) }
    while true {
        switch try procedure.next(mtu: mtu) {
        case .done(let output): return output
        case .ask(let request):
            let next = rest.popFirst()
            let turn = try #require(next, "asked \(request.encoded.hex)", sourceLocation: location)
            #expect(request.encoded.hex == octets(turn.ask).hex, sourceLocation: location)
            try procedure.receive(try ATTResponse(octets(turn.answer)))
        }
    }
}

/// Returns the error with which a procedure ends.
func failure(
    of procedure: some GATTProcedure, mtu: Int = 23, _ dialogue: Dialogue,
    location: SourceLocation = #_sourceLocation
) throws -> GATTClientError? {
    do {
        try run(procedure, mtu: mtu, dialogue, location: location)
        return nil
    } catch let error as GATTClientError {
        return error
    }
}

extension AttributeHandle {
    /// The handle's two octets as they are sent on air.
    var wire: String { [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)].hex }
}
