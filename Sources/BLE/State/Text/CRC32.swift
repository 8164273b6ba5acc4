/// The checksum of Ethernet, gzip and `crc32` (ISO/IEC 3309): detects changes of a file by disks and by
/// people.
struct CRC32 {
    private var register: UInt32 = .max

    /// The checksum of what was added.
    var value: UInt32 { ~register }

    mutating func update(_ octets: some Sequence<UInt8>) {
        for octet in octets {
            register = register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register) ^ octet)]
        }
    }

    private static let table: [UInt32] = (0..<256).map { octet in
        (0..<8).reduce(UInt32(octet)) { rest, _ in rest >> 1 ^ (rest & 1) &* 0xedb8_8320 }
    }
}
