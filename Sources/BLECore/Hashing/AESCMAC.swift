/// AES-CMAC with a 128-bit key (RFC 4493), for a message that is added in parts. Bluetooth uses it to hash
/// databases and to sign writes (Core Specification 5.4, Vol 3, Part H, 2.2.5).
///
/// ```swift
/// var mac = AESCMAC(key: 0)
/// mac.update([0x01, 0x00])
/// let code = mac.finalize()
/// ```
package struct AESCMAC: Sendable {
    private let cipher: AES128
    private var chain: UInt128 = 0
    /// The octets of the block that is not yet full, or is full and could be the last block.
    private var block: UInt128 = 0
    private var filled = 0

    /// Creates a code for a key. Its most significant octet is the first octet in the RFC.
    package init(key: UInt128) { cipher = AES128(key: key) }

    /// Returns the code of a complete message.
    package static func code(of message: [UInt8], key: UInt128) -> UInt128 {
        var mac = AESCMAC(key: key)
        mac.update(message)
        return mac.finalize()
    }

    /// Adds an octet to the message.
    package mutating func update(_ octet: UInt8) {
        if filled == 16 {
            chain = cipher.encrypt(chain ^ block)
            (block, filled) = (0, 0)
        }
        block = block << 8 | UInt128(octet)
        filled += 1
    }

    /// Adds octets to the message.
    package mutating func update(_ octets: some Sequence<UInt8>) {
        for octet in octets { update(octet) }
    }

    /// Returns the code of the message so far. Its most significant octet is the first octet in the RFC.
    package func finalize() -> UInt128 {
        var subkey = Self.doubled(cipher.encrypt(0))
        var last = block
        if filled < 16 {
            subkey = Self.doubled(subkey)
            // A one bit, then zeros.
            last = (block << 1 | 1) << UInt128(127 - 8 * filled)
        }
        return cipher.encrypt(chain ^ last ^ subkey)
    }

    /// 2.3: multiplies by x in the field of 2^128 elements.
    private static func doubled(_ value: UInt128) -> UInt128 { value << 1 ^ (value >> 127) &* 0x87 }
}
