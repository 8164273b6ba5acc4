import BLECore

/// Returns the octets of a hexadecimal text, which may contain spaces. Traps if the text is invalid.
package func octets(_ hex: String) -> [UInt8] {
    guard let bytes = [UInt8](hex: hex.filter { $0 != " " }) else { fatalError("not hex: \(hex)") }
    return bytes
}

/// Returns the numbers as 32 bits each, least significant octet first.
package func words(_ numbers: Int...) -> [UInt8] {
    numbers.flatMap { number in (0..<4).map { UInt8(number >> (8 * $0) & 0xff) } }
}

/// Returns `count` octets that increase by one from `first`, with 0 after 255.
package func counting(_ count: Int, from first: UInt8 = 0) -> [UInt8] {
    (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
}
