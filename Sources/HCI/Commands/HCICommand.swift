import BLECore

/// A command, and what its answer carries (Core Specification 5.4, Vol 4, Part E, 5.4.1). It reads and
/// writes its parameters only; `packet` adds the header. A value of the right length is always taken:
/// whether a parameter makes sense is for the controller to say, with a status.
package protocol HCICommand: HCIParameters {
    /// What follows the status in the Command Complete event.
    associatedtype ReturnParameters: HCIParameters = NoReturnParameters
    /// The opcode and the parameters in the order of the wire.
    static var definition: HCIDefinition<HCIOpcode, Self> { get }
    /// Which event answers the command: Command Complete or Command Status.
    static var answer: HCIAnswer { get }
}

/// How a controller answers a command (Core Specification 5.4, Vol 4, Part E, 4.4).
package enum HCIAnswer: Hashable, Sendable {
    /// Command Complete, with the return parameters.
    case complete
    /// Command Status now; the outcome is an event of its own, later.
    case status
    /// Nothing, unless the parameters are wrong.
    case none
}

extension HCICommand {
    package static var opcode: HCIOpcode { definition.code }
    /// The parameters in the order of the wire.
    package static var layout: HCILayout<Self> { definition.layout }
    /// What the specification calls the command.
    package static var packetName: String { opcode.description }
    /// Most commands are answered when they are done.
    package static var answer: HCIAnswer { .complete }
    /// The definition of this command: its opcode, its fields' names for errors, how it is made of them,
    /// and they of it.
    static func command<each Field: HCIField>(
        _ opcode: HCIOpcode, _ names: StaticString, _ make: @escaping @Sendable (repeat each Field) -> Self,
        _ fields: @escaping @Sendable (Self) -> (repeat each Field)
    ) -> HCIDefinition<HCIOpcode, Self> {
        HCIDefinition(code: opcode, layout: HCILayout(names, make, fields))
    }

    package var packet: HCICommandPacket { HCICommandPacket(opcode: Self.opcode, parameters: encoded) }
}

/// The return parameters of a command that returns nothing beside the status.
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
    /// A return of `value` for `connection`.
    package init(_ connection: ConnectionHandle, _ value: Value) {
        (self.connection, self.value) = (connection, value)
    }
}
