/// A value that does not fit into its field, found while a message was being made.
package struct HCIParameterError: Error, Hashable, Sendable {
    /// The name of the field, "advertising data".
    package let field: String
    /// The value that exceeds `limit`, for example a count of octets.
    package let value: Int
    /// The greatest number of octets or elements that the parameter can have.
    package let limit: Int

    /// The error for a `value` beyond `limit`.
    package init(field: String, value: Int, limit: Int) {
        (self.field, self.value, self.limit) = (field, value, limit)
    }
}

extension HCIParameterError: CustomStringConvertible {
    /// "advertising data: 32 is more than the limit of 31".
    package var description: String { "\(field): \(value) is more than the limit of \(limit)" }
}
