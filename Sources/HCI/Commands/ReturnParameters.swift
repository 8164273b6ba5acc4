import BLECore

/// What a command returns that returns nothing beside the status.
package struct NoReturnParameters: HCIParameters {
    package static let layout = HCILayout("", Self.init) { _ in }
    package static let packetName = "no return parameters"
    package init() {}
}

/// What a command returns that returns one value.
package struct Returned<Value: HCIField>: HCIParameters {
    package static var layout: HCILayout<Self> { HCILayout("value", Self.init) { $0.value } }
    package static var packetName: String { "return parameters" }
    package var value: Value
    package init(_ value: Value) { self.value = value }
}

/// What a command returns that concerns a connection.
package struct ReturnedForConnection<Value: HCIField>: HCIParameters {
    /// The connection handle, then the value.
    package static var layout: HCILayout<Self> {
        HCILayout("handle, value", Self.init) { ($0.connection, $0.value) }
    }
    package static var packetName: String { "return parameters" }
    package var connection: ConnectionHandle
    package var value: Value
    /// A return of `value` for `connection`.
    package init(_ connection: ConnectionHandle, _ value: Value) {
        (self.connection, self.value) = (connection, value)
    }
}
