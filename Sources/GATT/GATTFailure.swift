import ATT
import BLECore
import GATTClient

/// Why an operation of the client's role has no result.
package enum GATTFailure: Error, Sendable {
    /// The server refused or misbehaved, or something is out of the procedure's range.
    case procedure(GATTClientError)
    /// A request or a command does not fit the MTU.
    case limit(ATTLimitError)
    /// A request has no answer, or the connection has ended.
    case transaction(ATTTransactionError)
    /// The handle is of a state of the server's database that is gone.
    case databaseChanged(AttributeHandle)
    /// The server's database has changed during each of three discoveries.
    case restlessDatabase
    /// The link did not get as secure as the server requires, for that reason of the link's owner.
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
    /// The link is more secure: the procedure is begun anew.
    case raised
    /// The link cannot be more secure, or shall not: the server's refusal is the result.
    case unavailable
    /// The attempt failed with this error.
    case failed(any Error)
}
