import BLECore

/// AD structures that only devices with the key material can decrypt (Core Specification Supplement v11, Part
/// A, 1.23).
package struct EncryptedAdvertisingData: Hashable, Sendable {
    /// The random bits of the nonce, new for each encryption; only 40 are encoded.
    package var randomizer: UInt64
    /// The AD structures, encrypted with AES-CCM.
    package var payload: [UInt8]
    /// The message integrity check.
    package var mic: UInt32

    package init(randomizer: UInt64, payload: [UInt8], mic: UInt32) {
        self.randomizer = randomizer
        self.payload = payload
        self.mic = mic
    }
}

extension EncryptedAdvertisingData: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Encrypted Advertising Data" }

    /// Reads all remaining octets: five of the randomizer, the payload, and four of the MIC.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        randomizer = try reader.unsigned(octets: 5, "randomizer")
        payload = try reader.bytes(max(0, reader.remaining - 4), "payload")
        mic = try reader.u32("MIC")
    }

    package var encodedCount: Int { 9 + payload.count }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.little(randomizer, 5)
        output.bytes(payload)
        output.u32(mic)
    }
}
