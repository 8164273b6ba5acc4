/// The pauses before attempts to connect again: longer after each failure in a row. Between two attempts there are
/// 500 ms at least.
///
/// A failed attempt is a failure, and so is a link on which the device neither sent a value to a subscriber nor
/// answered a request other than the exchange of the MTU and discovery, if it was shorter than `steadyAfter`.
public struct Backoff: Hashable, Sendable {
    /// The pause after the first failure.
    public var first: Duration
    /// The factor by which each pause is longer than the previous one, at least 1.
    public var factor: Int
    /// The longest pause between two attempts.
    public var longest: Duration
    /// The duration from which a link is no failure in any case. After such a link the pauses start from `first`
    /// again.
    public var steadyAfter: Duration

    /// Creates a backoff. By default the first pause is 0.5 s, each further one is twice as long, up to 30 s,
    /// and the pauses start again after a link of 10 s or more.
    public init(
        first: Duration = .milliseconds(500), factor: Int = 2, longest: Duration = .seconds(30),
        steadyAfter: Duration = .seconds(10)
    ) {
        self.first = first
        self.factor = max(factor, 1)
        self.longest = longest
        self.steadyAfter = steadyAfter
    }

    /// The shortest time from one attempt to the next.
    package static let shortest = Duration.milliseconds(500)

    /// Returns the pause after this many failures in a row; zero after none.
    package func pause(after failures: Int) -> Duration {
        guard failures > 0 else { return .zero }
        var pause = min(first, longest)
        for _ in 1..<max(failures, 1) {
            guard factor > 1, pause > .zero, pause < longest else { break }
            pause = pause > longest / factor ? longest : pause * factor
        }
        return pause
    }
}
