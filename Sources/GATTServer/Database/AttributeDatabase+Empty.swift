extension AttributeDatabase {
    /// No attribute at all: every request is answered with an error.
    public static let empty = AttributeDatabase(attributes: [])
}
