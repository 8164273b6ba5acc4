import BLECore

/// The names of assigned numbers.
enum Names {
    /// The UUID that a name of the Bluetooth SIG stands for.
    @Sendable static func uuid(_ name: String) -> BluetoothUUID? { nil }
}
