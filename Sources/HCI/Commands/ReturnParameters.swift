import BLECore

/// What a command returns that returns nothing beside the status.
package struct NoReturnParameters: HCIParameters {
    /// No field.
    package static let layout = HCILayout("", Self.init) { _ in }
    /// For errors.
    package static let packetName = "no return parameters"
    /// Nothing.
    package init() {}
}

/// What a command returns that returns one value.
package struct Returned<Value: HCIField>: HCIParameters {
    /// The value.
    package static var layout: HCILayout<Self> { HCILayout("value", Self.init) { $0.value } }
    /// For errors.
    package static var packetName: String { "return parameters" }
    /// The value.
    package var value: Value
    /// A return of `value`.
    package init(_ value: Value) { self.value = value }
}

/// What a command returns that concerns a connection.
package struct ReturnedForConnection<Value: HCIField>: HCIParameters {
    /// The connection, then the value.
    package static var layout: HCILayout<Self> {
        HCILayout("handle, value", Self.init) { ($0.connection, $0.value) }
    }
    /// For errors.
    package static var packetName: String { "return parameters" }
    /// The connection.
    package var connection: ConnectionHandle
    /// The value.
    package var value: Value
    /// A return of `value` for `connection`.
    package init(_ connection: ConnectionHandle, _ value: Value) {
        (self.connection, self.value) = (connection, value)
    }
}
