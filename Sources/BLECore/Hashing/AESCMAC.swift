/// AES-CMAC with a key of 128 bits (RFC 4493), of a message that comes in pieces. Bluetooth hashes
/// databases with it, and signs writes (Core Specification 5.4, Vol 3, Part H, 2.2.5).
///
/// ```swift
/// var mac = AESCMAC(key: 0)
/// mac.update([0x01, 0x00])
/// let code = mac.finalize()
/// ```
package struct AESCMAC: Sendable {
    private let cipher: AES128
    private var chain: UInt128 = 0
    /// Octets of the block that is not full yet, or is full and may be the last.
    private var block: UInt128 = 0
    private var filled = 0

    /// The code of a key whose most significant octet is first in the RFC.
    package init(key: UInt128) { cipher = AES128(key: key) }

    /// The code of a message that is at hand.
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

    /// Appends octets to the message.
    package mutating func update(_ octets: some Sequence<UInt8>) {
        for octet in octets { update(octet) }
    }

    /// The code of the message so far; its most significant octet is first in the RFC.
    package func finalize() -> UInt128 {
        var subkey = Self.doubled(cipher.encrypt(0))
        var last = block
        if filled < 16 {
            subkey = Self.doubled(subkey)
            // One bit, then zeros.
            last = (block << 1 | 1) << UInt128(127 - 8 * filled)
        }
        return cipher.encrypt(chain ^ last ^ subkey)
    }

    /// 2.3: times x in the field of 2^128 elements.
    private static func doubled(_ value: UInt128) -> UInt128 { value << 1 ^ (value >> 127) &* 0x87 }
}
