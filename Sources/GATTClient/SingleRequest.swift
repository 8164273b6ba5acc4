import ATT
import BLECore

/// A procedure that consists of one request.
protocol SingleRequest: GATTProcedure {
    var request: ATTRequest { get }
    /// The result, when the response has arrived.
    var result: Output? { get set }
    /// Returns the result in a response other than an error; nil if the response does not answer this request.
    func result(of response: ATTResponse) throws(GATTClientError) -> Output?
}

extension SingleRequest {
    /// Asks with the request, then returns the result.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<Output> {
        result.map { .done($0) } ?? .ask(request)
    }

    /// Keeps the result. Throws when the response is an Error Response or belongs to another request.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        if case .error(let error) = response { throw .att(error) }
        guard let result = try result(of: response) else {
            throw .misbehaving(request.opcode, .unexpectedResponse(response.opcode))
        }
        self.result = result
    }
}
