import BLE
import BLECore

/// The reason why a text is not a valid value. The caller knows the option or the line of a file that
/// contains the text, and creates a `Failure` from it.
struct BadInput: Error, Hashable {
    /// One line: `"12q" is not a duration`.
    var reason: String
    /// A suggestion of what to write instead, if there is one.
    var hint: String?

    init(_ reason: String, hint: String? = nil) {
        self.reason = reason
        self.hint = hint
    }

    /// Creates the error from the library's error about the name of an adapter or a socket.
    init(_ error: AdapterSpecificationError) { self.init(error.description.printable, hint: error.hint) }

    /// Creates the error from one that a closure threw. Closures do not infer typed throws (Swift 6.3), so
    /// those that throw this type are declared to throw any.
    init(caught error: any Error) { self = error as? BadInput ?? BadInput("\(error)") }
}
