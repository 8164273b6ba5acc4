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
    /// Returns the request, then the result.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<Output> {
        result.map { .done($0) } ?? .ask(request)
    }

    /// Stores the result. Throws when the response is an Error Response or belongs to another request.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        if case .error(let error) = response { throw .att(error) }
        guard let result = try result(of: response) else {
            throw .misbehaving(request.opcode, .unexpectedResponse(response.opcode))
        }
        self.result = result
    }
}

/// Offers the MTU of this side to the server, once per link (Core Specification 5.4, Vol 3, Part G, 4.3.1).
/// The bearer uses the smaller of both MTUs. If the server refuses, the MTU does not change.
package struct ExchangeMTU: SingleRequest {
    package static let isPreparation = true

    /// Nothing: the result only shows that the server has answered.
    package typealias Output = Void

    let request: ATTRequest
    var result: Void?

    /// Creates an offer to receive PDUs of `mtu`.
    package init(_ mtu: ATTMTU) { request = .exchangeMTU(mtu.wire) }

    /// Handles the response, which can be an error.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        switch response {
        case .exchangeMTU, .error: result = ()
        default: throw .misbehaving(request.opcode, .unexpectedResponse(response.opcode))
        }
    }

    func result(of response: ATTResponse) throws(GATTClientError) -> Void? { nil }
}

/// Sends one request unchanged, and returns the response as received, even if it is an Error Response.
package struct RawRequest: GATTProcedure {
    package typealias Output = ATTResponse

    private let request: ATTRequest
    private var response: ATTResponse?

    package init(_ request: ATTRequest) { self.request = request }

    /// Returns the request, then its response.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<ATTResponse> {
        response.map { .done($0) } ?? .ask(request)
    }

    /// Stores the response as the result, even if it is an Error Response.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        self.response = response
    }
}
