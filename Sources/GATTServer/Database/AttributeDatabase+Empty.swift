extension AttributeDatabase {
    /// No attribute at all: every request is answered with an error.
    package static let empty = AttributeDatabase(attributes: [])
}
