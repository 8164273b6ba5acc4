import BLECore

/// A command and its return parameters (Core Specification 5.4, Vol 4, Part E, 5.4.1). Only the parameters
/// are decoded and encoded; `packet` adds the header. Any value of the right length is accepted: the
/// controller checks whether a parameter is valid and returns a status.
package protocol HCICommand: HCIParameters {
    /// The parameters after the status in the Command Complete event.
    associatedtype ReturnParameters: HCIParameters = NoReturnParameters
    /// The opcode and the parameters in the order of the wire.
    static var definition: HCIDefinition<HCIOpcode, Self> { get }
    /// The event that answers the command: Command Complete or Command Status.
    static var answer: HCIAnswer { get }
}

/// The way in which a controller answers a command (Core Specification 5.4, Vol 4, Part E, 4.4).
package enum HCIAnswer: Hashable, Sendable {
    /// Command Complete, with the return parameters.
    case complete
    /// Command Status now; another event reports the outcome later.
    case status
    /// No answer, unless a parameter is wrong.
    case none
}

extension HCICommand {
    package static var opcode: HCIOpcode { definition.code }
    /// The parameters in the order of the wire.
    package static var layout: HCILayout<Self> { definition.layout }
    /// The name of the command in the specification.
    package static var packetName: String { opcode.description }
    /// Command Complete by default, since most commands are answered when they are done.
    package static var answer: HCIAnswer { .complete }
    /// Returns the definition of this command: its opcode, the names of its fields for errors, and the
    /// conversions from and to its fields.
    static func command<each Field: HCIField>(
        _ opcode: HCIOpcode, _ names: StaticString, _ make: @escaping @Sendable (repeat each Field) -> Self,
        _ fields: @escaping @Sendable (Self) -> (repeat each Field)
    ) -> HCIDefinition<HCIOpcode, Self> {
        HCIDefinition(code: opcode, layout: HCILayout(names, make, fields))
    }

    package var packet: HCICommandPacket { HCICommandPacket(opcode: Self.opcode, parameters: encoded) }
}

/// The return parameters of a command that returns only the status.
package struct NoReturnParameters: HCIParameters {
    package static let layout = HCILayout("", Self.init) { _ in }
    package static let packetName = "no return parameters"
    package init() {}
}

/// The return parameters of a command that returns one value.
package struct Returned<Value: HCIField>: HCIParameters {
    package static var layout: HCILayout<Self> { HCILayout("Return_Parameters", Self.init) { $0.value } }
    package static var packetName: String { "return parameters" }
    package var value: Value
    package init(_ value: Value) { self.value = value }
}

/// The return parameters of a command that concerns a connection.
package struct ReturnedForConnection<Value: HCIField>: HCIParameters {
    /// The connection handle, then the value.
    package static var layout: HCILayout<Self> {
        HCILayout("Connection_Handle, Return_Parameters", Self.init) { ($0.connection, $0.value) }
    }
    package static var packetName: String { "return parameters" }
    package var connection: ConnectionHandle
    package var value: Value
    /// Creates the return of `value` for `connection`.
    package init(_ connection: ConnectionHandle, _ value: Value) {
        (self.connection, self.value) = (connection, value)
    }
}
