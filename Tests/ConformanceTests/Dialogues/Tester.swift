/// Our side of a dialogue.
protocol Tester {
    init()
    /// Performs a command of the dialogue on our side.
    mutating func perform(_ command: String, _ arguments: [String]) throws
    /// Receives a PDU from the peer.
    mutating func receive(_ pdu: [UInt8])
    /// Processes all pending work, and returns the PDUs for the peer and the events for the user.
    mutating func turn() -> (sent: [[UInt8]], reported: [String])
}

/// An unknown command, or a command with missing or invalid arguments.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ command: String, _ arguments: [String]) {
        description = "cannot \(command) \(arguments.joined(separator: " "))"
    }
}
