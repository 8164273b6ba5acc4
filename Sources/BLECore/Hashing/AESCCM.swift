/// AES-CCM with a 128-bit key and nonces of 13 octets (RFC 3610 with L = 2), which Bluetooth and BTHome use.
/// Only decryption is implemented.
///
/// ```swift
/// AESCCM(key: key).open(ciphertext, tag: tag, nonce: nonce)  // nil: another key, or changed on the way
/// ```
package struct AESCCM: Sendable {
    private let cipher: AES128

    /// Creates the cipher for a key. Its most significant octet is the first octet in the RFC.
    package init(key: UInt128) { cipher = AES128(key: key) }

    /// Decrypts a message; nil if the tag does not match or the arguments violate the RFC: a nonce of other
    /// than 13 octets, a tag of other than 4, 6, 8 … 16, a message of more than 65,535 or other data of more
    /// than 65,279.
    package func open(
        _ ciphertext: [UInt8], tag: [UInt8], nonce: [UInt8], authenticating data: [UInt8] = []
    ) -> [UInt8]? {
        guard nonce.count == 13, (4...16).contains(tag.count), tag.count.isMultiple(of: 2),
            ciphertext.count <= 0xffff, data.count < 0xff00
        else { return nil }
        let middle = nonce.reduce(UInt128(0)) { $0 << 8 | UInt128($1) } << 16
        var plain: [UInt8] = []
        plain.reserveCapacity(ciphertext.count)
        for start in stride(from: 0, to: ciphertext.count, by: 16) {
            // 2.3: block 0 of the key stream is for the tag.
            let stream = cipher.encrypt(1 << 120 | middle | UInt128(start / 16 + 1))
            for (place, octet) in ciphertext[start..<min(start + 16, ciphertext.count)].enumerated() {
                plain.append(octet ^ UInt8(truncatingIfNeeded: stream >> UInt128(120 - 8 * place)))
            }
        }
        // 2.2: the authenticated data begins with the flags, the nonce and the length of the message.
        let flags = UInt128((data.isEmpty ? 0 : 0x40) | ((tag.count - 2) / 2) << 3 | 1)
        var code = cipher.encrypt(flags << 120 | middle | UInt128(plain.count))
        if !data.isEmpty {
            let length = [UInt8(truncatingIfNeeded: data.count >> 8), UInt8(truncatingIfNeeded: data.count)]
            code = chained(length + data, onto: code)
        }
        code = chained(plain, onto: code) ^ cipher.encrypt(1 << 120 | middle)
        let expected = (0..<tag.count).map { UInt8(truncatingIfNeeded: code >> UInt128(120 - 8 * $0)) }
        return expected == tag ? plain : nil
    }

    /// Returns the CBC-MAC of octets, padded with zeros to a whole block.
    private func chained(_ octets: [UInt8], onto code: UInt128) -> UInt128 {
        stride(from: 0, to: octets.count, by: 16).reduce(code) { code, start in
            var block: UInt128 = 0
            for place in 0..<16 {
                block = block << 8 | UInt128(start + place < octets.count ? octets[start + place] : 0)
            }
            return cipher.encrypt(code ^ block)
        }
    }
}
