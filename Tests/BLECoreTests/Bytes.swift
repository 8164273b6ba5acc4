import BLECore

/// The octets that `hex` spells, spaces left out; a typing error in a test is a crash of the test.
func octets(_ hex: String) -> [UInt8] {
    guard let bytes = [UInt8](hex: hex.filter { $0 != " " }) else { fatalError("not hex: \(hex)") }
    return bytes
}
