/// The output of the samples, which does not go to the standard output.
struct Printed {
    static let (lines, continuation) = AsyncStream<String>.makeStream()
}

/// Replaces `print` in the samples.
func print(_ item: Any) { Printed.continuation.yield("\(item)") }
