/// Takes what a machine reports, or what is found.
func handle(_ event: some Any) {}

/// Lets a sample show expressions whose values nothing uses.
@resultBuilder enum Expressions {
    static func buildExpression(_ value: some Any) {}
    static func buildBlock(_ parts: Void...) {}
    static func buildArray(_ rounds: [Void]) {}
}
