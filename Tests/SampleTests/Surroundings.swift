/// Takes what a machine reports, or what is found.
func handle(_ event: some Any) {}

/// Takes the frames that a machine has written.
struct Transport {
    func send(_ frame: borrowing OutputSpan<UInt8>) {}
}

/// Lets a sample show expressions whose values nothing uses.
@resultBuilder enum Expressions {
    static func buildExpression(_ value: some Any) {}
    static func buildBlock(_ parts: Void...) {}
    static func buildArray(_ rounds: [Void]) {}
}
