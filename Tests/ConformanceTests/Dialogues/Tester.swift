/// Our side of a dialogue.
protocol Tester {
    init()
    /// Makes something happen on our side.
    mutating func perform(_ command: String, _ arguments: [String]) throws
    /// Takes a PDU.
    mutating func receive(_ pdu: [UInt8])
    /// Does all that is to be done; returns the PDUs for the peer, and the events for the user.
    mutating func turn() -> (sent: [[UInt8]], reported: [String])
}

/// A command that the tester does not have, or that has not the arguments it needs.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ command: String, _ arguments: [String]) {
        description = "cannot \(command) \(arguments.joined(separator: " "))"
    }
}
