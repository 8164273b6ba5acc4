import BLECore
import Testing

/// Bytes and the value that they encode. Checks decoding, encoding, every shorter prefix and one extra octet.
struct PacketCase<Packet: PacketCodable & Hashable>: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let value: Packet

    /// Creates a case from bytes as hexadecimal text, in which spaces are ignored.
    init(_ hex: String, _ value: Packet) {
        bytes = [UInt8](spelled: hex)
        self.value = value
    }

    init(_ bytes: [UInt8], _ value: Packet) { (self.bytes, self.value) = (bytes, value) }

    var testDescription: String { "\(Packet.packetName) \(bytes.hex)" }

    func check(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: Never.self, sourceLocation: sourceLocation) {
            let decoded = try Packet(bytes)
            #expect(decoded == value, sourceLocation: sourceLocation)
        }
        #expect(value.encodedCount == bytes.count, sourceLocation: sourceLocation)
        #expect(value.encoded.hex == bytes.hex, sourceLocation: sourceLocation)
        for length in bytes.indices {
            #expect(throws: DecodeError.self, "first \(length)", sourceLocation: sourceLocation) {
                try Packet(Array(bytes.prefix(length)))
            }
        }
        #expect(throws: DecodeError.self, "one more", sourceLocation: sourceLocation) {
            try Packet(bytes + [0])
        }
    }
}

extension [UInt8] {
    /// Creates the octets of hexadecimal text with spaces, or none if the text is not hexadecimal.
    init(spelled hex: String) {
        self = [UInt8](hex: hex.filter { $0 != " " }) ?? []
    }
}
