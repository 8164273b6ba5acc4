import BLECore

/// Voice data, passed through (Core Specification 5.4, Vol 4, Part E, 5.4.3).
package struct SynchronousPacket: Hashable, Sendable {
    package let handle: ConnectionHandle
    /// The four bits above the handle: the packet status and reserved bits.
    package let flags: UInt8
    /// The data, at most 255 octets.
    package let data: [UInt8]

    /// Creates a packet. More than four bits of flags or more than 255 octets is a programming error.
    package init(handle: ConnectionHandle, flags: UInt8 = 0, data: [UInt8]) {
        precondition(flags <= 0b1111 && data.count <= 255, "4 bits of flags and at most 255 octets")
        (self.handle, self.flags, self.data) = (handle, flags, data)
    }
}

extension SynchronousPacket: PacketCodable {
    package static let packetName = "synchronous data"

    /// Reads the header and as many octets as its length field states.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let header = try reader.u16("Connection_Handle")
        handle = ConnectionHandle(header)
        flags = UInt8(truncatingIfNeeded: header >> 12)
        data = try reader.bytes(Int(try reader.u8("Data_Total_Length")), "Data")
    }

    /// The encoded size in octets: the 3 octets of the header and the data.
    package var encodedCount: Int { 3 + data.count }

    /// Writes the header and the data.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u16(handle.rawValue | UInt16(flags) << 12)
        output.u8(UInt8(clamping: data.count))
        output.bytes(data)
    }
}
