import BLECore

/// The data of a connection: a whole L2CAP frame or a fragment of one (Core Specification 5.4, Vol 4, Part E,
/// 5.4.2).
package struct ACLPacket: Hashable, Sendable {
    /// The position of the data in an L2CAP frame.
    package enum Boundary: UInt8, Hashable, Sendable {
        /// The start of a frame that the controller must not flush; a host uses it on LE links.
        case firstNonFlushable = 0b00
        /// A fragment that continues a frame.
        case continuing = 0b01
        /// The start of a frame that can be flushed; a controller uses it.
        case firstFlushable = 0b10
        /// A complete frame that can be flushed; not used on LE links.
        case complete = 0b11
    }

    /// The receivers of the data. LE links use point-to-point only.
    package enum Broadcast: UInt8, Hashable, Sendable {
        /// The data is for the peer of the connection.
        case pointToPoint = 0b00
        /// The data is for all peripherals of a piconet (BR/EDR).
        case broadcast = 0b01
        /// Reserved, or a former kind of broadcast.
        case reserved2 = 0b10
        case reserved3 = 0b11
    }

    package let handle: ConnectionHandle
    /// The position of the data in an L2CAP frame.
    package let boundary: Boundary
    /// The broadcast flag; always point-to-point on LE.
    package let broadcast: Broadcast
    /// The data, at most 65,535 octets; the controller's buffer size is the actual limit.
    package let data: [UInt8]

    /// Creates a packet for one peer. More than 65,535 octets is a programming error.
    package init(
        handle: ConnectionHandle, boundary: Boundary, broadcast: Broadcast = .pointToPoint, data: [UInt8]
    ) {
        precondition(data.count <= 0xffff, "an ACL packet takes at most 65,535 octets")
        (self.handle, self.boundary, self.broadcast, self.data) = (handle, boundary, broadcast, data)
    }
}

extension ACLPacket: PacketCodable {
    package static let packetName = "ACL data"

    /// Reads the header and as many octets as its length field states.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let header = try ACLHeader(decoding: &reader)
        (handle, boundary, broadcast) = (header.handle, header.boundary, header.broadcast)
        data = try reader.bytes(header.dataLength, "Data")
    }

    /// The encoded size in octets: the 4 octets of the header and the data.
    package var encodedCount: Int { 4 + data.count }

    /// Writes the header and the data.
    package func encode(into output: inout OutputSpan<UInt8>) {
        let flags = UInt16(boundary.rawValue) | UInt16(broadcast.rawValue) << 2
        output.u16(handle.rawValue | flags << 12)
        output.u16(UInt16(clamping: data.count))
        output.bytes(data)
    }
}

/// The header of an ACL packet whose data is read in place.
///
/// ```swift
/// let header = try ACLHeader(decoding: &reader)
/// let data = try reader.span(header.dataLength, "Data")
/// ```
package struct ACLHeader: Hashable, Sendable {
    package let handle: ConnectionHandle
    /// The position of the data in an L2CAP frame.
    package let boundary: ACLPacket.Boundary
    /// The broadcast flag; always point-to-point on LE.
    package let broadcast: ACLPacket.Broadcast
    /// The number of octets of data that follow.
    package let dataLength: Int

    /// Reads the four octets of the header and leaves the data to the caller.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let flags = try reader.u16("Connection_Handle")
        handle = ConnectionHandle(flags)
        boundary = .init(flags)
        broadcast = .init(flags)
        dataLength = Int(try reader.u16("Data_Total_Length"))
    }
}

extension ACLPacket.Boundary {
    init(_ header: UInt16) {
        self =
            switch header >> 12 & 0b11 {
            case 0b00: .firstNonFlushable
            case 0b01: .continuing
            case 0b10: .firstFlushable
            default: .complete
            }
    }
}

extension ACLPacket.Broadcast {
    init(_ header: UInt16) {
        self =
            switch header >> 14 {
            case 0b00: .pointToPoint
            case 0b01: .broadcast
            case 0b10: .reserved2
            default: .reserved3
            }
    }
}
