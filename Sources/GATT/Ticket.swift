/// Identifies an operation that cannot end at once, from its beginning to its one end.
package struct TicketID: Hashable, Comparable, Sendable {
    /// The link, identified by the number of the client at its other end.
    package let link: UInt64
    /// The number of the operation; each is used once on a link.
    package let number: UInt64

    init(link: UInt64, number: UInt64) { (self.link, self.number) = (link, number) }

    package static func < (left: Self, right: Self) -> Bool {
        (left.link, left.number) < (right.link, right.number)
    }
}

/// An operation, with the type of its result.
package struct Ticket<Value: Sendable>: Hashable, Sendable {
    package let id: TicketID

    init(_ id: TicketID) { self.id = id }
}

/// The result of an operation, or the ticket of an operation that has not ended yet.
package enum Submission<Value: Sendable>: Sendable {
    /// The operation ended at once with this result.
    case done(Value)
    /// The operation ends by an event that has this ticket.
    case pending(Ticket<Value>)
}

/// The outcome of an operation. `result(of:)` returns its result, whose type the ticket determines.
package struct Outcome<Failure: Error>: Sendable {
    private let result: Result<any Sendable, Failure>

    package init(_ result: Result<any Sendable, Failure>) { self.result = result }

    /// Returns the result of the operation that `ticket` identifies.
    package func result<Value>(of ticket: Ticket<Value>) -> Result<Value, Failure> {
        result.map { value in
            guard let value = value as? Value else {
                preconditionFailure("the outcome is not that of the ticket, which is for \(Value.self)")
            }
            return value
        }
    }

    /// The failure of the operation; nil if it has a result.
    package var failure: Failure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}
