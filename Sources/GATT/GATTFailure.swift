import ATT
import BLECore
import GATTClient

/// The reason why an operation of the client role has no result.
package enum GATTFailure: Error, Sendable {
    /// The server rejected a request or violated the specification, or a value is out of the procedure's
    /// range.
    case procedure(GATTClientError)
    /// A request or a command does not fit the MTU.
    case limit(ATTLimitError)
    /// A request got no usable answer, or the connection has ended.
    case transaction(ATTTransactionError)
    /// The handle belongs to an outdated state of the server's database.
    case databaseChanged(AttributeHandle)
    /// The server's database has changed during each of three discoveries.
    case restlessDatabase
    /// The link did not become as secure as the server requires, for this reason from the link's owner.
    case security(any Error)
    /// The owner has cancelled the operation.
    case cancelled
}

extension GATTFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .procedure(let error): "\(error)"
        case .limit(let error): "\(error)"
        case .transaction(let error): "\(error)"
        case .databaseChanged(let handle): "the database has changed since \(handle) was found"
        case .restlessDatabase: "the database changed during each discovery"
        case .security(let error): "\(error)"
        case .cancelled: "cancelled"
        }
    }
}

/// The result of raising the security that a server requires for a request.
package enum SecurityRaise: Sendable {
    /// The link is more secure: the procedure is restarted.
    case raised
    /// The link cannot be made more secure, or must not be: the server's error is the result.
    case unavailable
    /// The attempt failed with this error.
    case failed(any Error)
}
