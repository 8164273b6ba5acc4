import BLE

/// Why a text is not the value it was given for. The caller knows the option or the line of a file that it
/// came from, and makes a `Failure` of it.
struct BadInput: Error, Hashable {
    /// One line: `"12q" is not a duration`.
    var reason: String
    /// What to write instead, where there is something to say.
    var hint: String?

    init(_ reason: String, hint: String? = nil) {
        self.reason = reason
        self.hint = hint
    }

    /// What the library says of the name of an adapter or a socket.
    init(_ error: AdapterSpecificationError) { self.init(error.description.printable, hint: error.hint) }

    /// What a closure threw. Closures do not infer typed throws (Swift 6.3), so those that throw this type
    /// are declared to throw any.
    init(caught error: any Error) { self = error as? BadInput ?? BadInput("\(error)") }
}
