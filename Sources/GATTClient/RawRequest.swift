import ATT

/// Sends one request as it is, and gives the response as it came, an Error Response among them.
package struct RawRequest: GATTProcedure {
    package typealias Output = ATTResponse

    private let request: ATTRequest
    private var response: ATTResponse?

    package init(_ request: ATTRequest) { self.request = request }

    /// Asks with the request, then returns its response.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<ATTResponse> {
        response.map { .done($0) } ?? .ask(request)
    }

    /// Keeps the response as the result, an Error Response as well.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        self.response = response
    }
}
