import BLECore

/// Isochronous data, passed through with its headers (Core Specification 5.4, Vol 4, Part E, 5.4.5).
package struct ISOPacket: Hashable, Sendable {
    /// The handle of the connected or broadcast stream.
    package let handle: ConnectionHandle
    /// The four bits above the handle: boundary flag, time stamp flag and a reserved one.
    package let flags: UInt8
    /// The payload with its headers, at most 16,383 octets.
    package let data: [UInt8]

    /// Creates a packet. More than four bits of flags or more than 16,383 octets is a programming error.
    package init(handle: ConnectionHandle, flags: UInt8 = 0, data: [UInt8]) {
        precondition(flags <= 0b1111 && data.count <= 0x3fff, "4 bits of flags and at most 16,383 octets")
        (self.handle, self.flags, self.data) = (handle, flags, data)
    }
}

extension ISOPacket: PacketCodable {
    package static let packetName = "isochronous data"

    /// Reads the header and as many octets as its length field states. The two bits above the length are
    /// reserved and ignored.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let header = try reader.u16("Connection_Handle")
        handle = ConnectionHandle(header)
        flags = UInt8(truncatingIfNeeded: header >> 12)
        let length = try reader.u16("ISO_Data_Load_Length") & 0x3fff
        data = try reader.bytes(Int(length), "ISO_Data_Load")
    }

    /// The encoded size in octets: the 4 octets of the header and the data.
    package var encodedCount: Int { 4 + data.count }

    /// Writes the header and the data.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u16(handle.rawValue | UInt16(flags) << 12)
        output.u16(UInt16(clamping: data.count))
        output.bytes(data)
    }
}
