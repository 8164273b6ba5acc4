import BLECore

/// The values that several objects have, each written in one way.
extension JSONValue {
    /// Creates the string `AA:BB:CC:DD:EE:FF`, or `null` for nil.
    init(_ address: DeviceAddress?) { self.init(address?.text) }

    /// Creates `public` or `random`, or `null` without an address.
    init(typeOf address: DeviceAddress?) { self.init(address.map { "\($0.type)" }) }

    /// Creates the number of a handle.
    init(_ handle: AttributeHandle) { self.init(handle.rawValue) }

    /// A UUID in its shortest form, or `null`.
    init(_ uuid: BluetoothUUID?) { self.init(uuid?.description) }

    /// Creates a list of UUIDs in their shortest forms.
    init(_ uuids: [BluetoothUUID]) { self = .array(uuids.map { JSONValue($0) }) }

    init(_ value: Bool) { self = .bool(value) }

    /// Milliseconds, with a fraction where there is one; or `null`.
    init(milliseconds duration: Duration?) {
        guard let nanoseconds = duration?.nanoseconds else {
            self = .null
            return
        }
        self.init(Double(nanoseconds) / 1_000_000)
    }
}
