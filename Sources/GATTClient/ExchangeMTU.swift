import ATT

/// Offers the MTU of this side to the server, once a link (Core Specification 5.4, Vol 3, Part G, 4.3.1). The
/// bearer takes the lesser of both; a server may refuse, and the MTU stays as it is.
package struct ExchangeMTU: SingleRequest {
    /// Nothing but that the server has answered.
    package typealias Output = Void

    let request: ATTRequest
    var result: Void?

    /// Offers to receive PDUs of `mtu`.
    package init(_ mtu: ATTMTU) { request = .exchangeMTU(mtu.wire) }

    /// Takes the answer, which may be an error.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        switch response {
        case .exchangeMTU, .error: result = ()
        default: throw .misbehaving(request.opcode, .unexpectedResponse(response.opcode))
        }
    }

    func result(of response: ATTResponse) throws(GATTClientError) -> Void? { nil }
}
