import ATT

/// Sends one request as it is, and gives the response as it came, an Error Response among them.
public struct RawRequest: GATTProcedure {
    /// The response.
    public typealias Output = ATTResponse

    private let request: ATTRequest
    private var response: ATTResponse?

    /// Sends `request`.
    public init(_ request: ATTRequest) { self.request = request }

    /// The request, or its response.
    public mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<ATTResponse> {
        response.map { .done($0) } ?? .ask(request)
    }

    /// Takes the response.
    public mutating func receive(_ response: ATTResponse) throws(GATTClientError) { self.response = response }
}
