/// A value that does not fit into its field, found while a message was being made.
public struct HCIParameterError: Error, Hashable, Sendable {
    /// The field.
    public let field: String
    /// What was given.
    public let value: Int
    /// What is possible at most.
    public let limit: Int

    /// The error for a `value` beyond `limit`.
    public init(field: String, value: Int, limit: Int) {
        (self.field, self.value, self.limit) = (field, value, limit)
    }
}

extension HCIParameterError: CustomStringConvertible {
    /// "advertising data: 32 is more than the limit of 31".
    public var description: String { "\(field): \(value) is more than the limit of \(limit)" }
}
