/// What the samples print, in place of the standard output.
struct Printed {
    static let (lines, continuation) = AsyncStream<String>.makeStream()
}

/// The samples' `print`.
func print(_ item: Any) { Printed.continuation.yield("\(item)") }
