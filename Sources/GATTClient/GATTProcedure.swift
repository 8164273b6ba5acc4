import ATT

/// One GATT procedure: asks, takes the answer, asks again, until it has its result (Core Specification 5.4,
/// Vol 3, Part G, 4). It knows no bearer, so the caller chooses one:
///
/// ```swift
/// while true {
///     switch try procedure.next(mtu: bearer.mtu.octets) {
///     case .ask(let request): try procedure.receive(await bearer.transact(request))
///     case .done(let output): return output
///     }
/// }
/// ```
/// Every procedure ends after a bounded number of requests, whatever the peer answers. One that threw is
/// over.
package protocol GATTProcedure: Sendable {
    /// The type of the procedure's result.
    associatedtype Output: Sendable

    /// What to ask now, or the result. `mtu` is the bearer's ATT_MTU, in octets, when the request goes out.
    /// Throws what stands in the way on this side, before anything is sent.
    mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<Output>

    /// Takes the response, also one that is an error, to the request that `next` gave.
    mutating func receive(_ response: ATTResponse) throws(GATTClientError)

    /// What to ask, whose answer does not matter, when the procedure is given up halfway, so that the peer
    /// forgets it as well. nil when there is nothing to forget.
    var undo: ATTRequest? { get }
}

extension GATTProcedure {
    /// Most procedures leave no state to undo.
    package var undo: ATTRequest? { nil }
}

/// The next step of a procedure.
package enum GATTStep<Output: Sendable>: Sendable {
    /// To send this and hand the response to `receive`.
    case ask(ATTRequest)
    /// The procedure has ended with this result.
    case done(Output)
}
