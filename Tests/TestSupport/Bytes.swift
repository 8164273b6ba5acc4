import BLECore

/// The octets that `hex` spells, spaces left out; a typing error in a test is a crash of the test.
package func octets(_ hex: String) -> [UInt8] {
    guard let bytes = [UInt8](hex: hex.filter { $0 != " " }) else { fatalError("not hex: \(hex)") }
    return bytes
}

/// `count` octets that rise by one from `first`, and begin at zero again after 255.
package func counting(_ count: Int, from first: UInt8 = 0) -> [UInt8] {
    (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
}
