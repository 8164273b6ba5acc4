import ATT

/// A GATT procedure: a series of requests, each with its response, that ends with a result (Core
/// Specification 5.4, Vol 3, Part G, 4). The procedure does not depend on a bearer, so the caller chooses
/// one:
///
/// ```swift
/// while true {
///     switch try procedure.next(mtu: bearer.mtu.octets) {
///     case .ask(let request): try procedure.receive(await bearer.transact(request))
///     case .done(let output): return output
///     }
/// }
/// ```
/// Every procedure ends after a bounded number of requests, whatever the peer answers. A procedure that threw
/// an error has ended.
package protocol GATTProcedure: Sendable {
    /// The type of the procedure's result.
    associatedtype Output: Sendable

    /// Returns the next request, or the result. `mtu` is the bearer's ATT_MTU in octets when the request is
    /// sent. Throws, before anything is sent, if something on this side prevents the request.
    mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<Output>

    /// Handles the response, which can be an error, to the request that `next` returned.
    mutating func receive(_ response: ATTResponse) throws(GATTClientError)

    /// The request that makes the peer discard the procedure when it is abandoned halfway; the answer does
    /// not matter. nil if there is nothing to discard.
    var undo: ATTRequest? { get }

    /// Whether the procedure only prepares the use of a server: it exchanges the MTU, or discovers the database.
    static var isPreparation: Bool { get }
}

extension GATTProcedure {
    /// Nil, because most procedures leave no state to undo.
    package var undo: ATTRequest? { nil }

    /// False: most procedures use the server.
    package static var isPreparation: Bool { false }
}

/// The next step of a procedure.
package enum GATTStep<Output: Sendable>: Sendable {
    /// Send this request, and pass the response to `receive`.
    case ask(ATTRequest)
    /// The procedure has ended with this result.
    case done(Output)
}
