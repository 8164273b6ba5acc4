import BLECore

/// Services that a device offers or searches for over other transports (Transport Discovery Service 1.1,
/// 2.1): one block for each transport.
package struct TransportDiscovery: Hashable, Sendable {
    /// The information about one transport.
    package struct Block: Hashable, Sendable {
        /// The organization that defines the transport: 1 is the Bluetooth SIG, 2 the Wi-Fi Alliance.
        package var organization: UInt8
        /// Seeker or provider (bits 0 and 1), incomplete data (2), state of the transport (3 and 4).
        package var flags: UInt8
        /// The data in the organization's format; at most 255 octets are encoded.
        package var data: [UInt8]

        package init(organization: UInt8, flags: UInt8, data: [UInt8]) {
            self.organization = organization
            self.flags = flags
            self.data = data
        }
    }

    /// The blocks, one for each transport or organization.
    package var blocks: [Block]

    package init(_ blocks: [Block]) { self.blocks = blocks }
}

extension TransportDiscovery: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Transport Discovery Data" }

    /// Reads all remaining octets as blocks, at least one.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        blocks = []
        repeat {
            let organization = try reader.u8("organization")
            let flags = try reader.u8("TDS flags")
            let count = Int(try reader.u8("transport data length"))
            let data = try reader.bytes(count, "transport data")
            blocks.append(Block(organization: organization, flags: flags, data: data))
        } while reader.remaining > 0
    }

    package var encodedCount: Int { blocks.reduce(0) { $0 + 3 + min($1.data.count, 255) } }

    package func encode(into output: inout OutputSpan<UInt8>) {
        for block in blocks {
            output.u8(block.organization)
            output.u8(block.flags)
            output.u8(UInt8(clamping: block.data.count))
            output.bytes(block.data.prefix(255))
        }
    }
}
