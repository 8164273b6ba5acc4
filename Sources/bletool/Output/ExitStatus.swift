/// The exit status of the process, which scripts can rely on.
enum ExitStatus: Int32, Hashable, Sendable {
    case done = 0
    /// A usage error, or bad input.
    case badInput = 1
    /// Nothing was found, or the time limit passed.
    case notFound = 2
    /// The adapter is missing or cannot be used.
    case adapter = 3
    /// The process lacks a permission.
    case permission = 4
    /// The peer's server answered with an ATT error.
    case att = 5
    /// Pairing or encryption failed.
    case security = 6
    /// The link was lost, data were not sent, or the peer broke the specification.
    case linkLost = 7
}
