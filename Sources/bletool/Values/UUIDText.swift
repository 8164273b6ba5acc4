import BLECore

/// The UUID that a SIG name stands for ("Battery Service", "battery_level"), or nil.
typealias UUIDNames = @Sendable (String) -> BluetoothUUID?

extension BluetoothUUID {
    /// The UUID that `text` spells or names.
    init(text: some StringProtocol, names: UUIDNames) throws(BadInput) {
        guard let uuid = BluetoothUUID(text) ?? names(String(text)) else {
            let isNumber = !text.isEmpty && text.allSatisfy { $0.isHexDigit || $0 == "-" }
            throw BadInput(
                isNumber
                    ? "\(text.quoted) is not a UUID: those have 4, 8, or 32 hex digits with dashes"
                    : "\(text.quoted) is neither a UUID nor a name that the Bluetooth SIG gave to one",
                hint: isNumber ? nil : "`bletool lookup uuid WHAT` finds names")
        }
        self = uuid
    }
}
