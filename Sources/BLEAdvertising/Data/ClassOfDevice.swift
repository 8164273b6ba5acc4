import BLECore

/// The class of a BR/EDR device: 24 bits (Assigned Numbers, 2.8).
package struct ClassOfDevice: Hashable, Sendable {
    /// The class of device, in the low 24 bits.
    package let rawValue: UInt32

    /// The class of the low 24 bits.
    package init(_ rawValue: UInt32) { self.rawValue = rawValue & 0xff_ffff }

    /// Bits 13 to 23, the kinds of service.
    package var services: UInt32 { rawValue >> 13 }
    /// Bits 8 to 12: 1 is a computer, 2 a phone.
    package var majorClass: UInt32 { rawValue >> 8 & 0x1f }
    /// Bits 2 to 7, whose meaning depends on the major class.
    package var minorClass: UInt32 { rawValue >> 2 & 0x3f }
}

extension ClassOfDevice: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Class of Device" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        self.init(try reader.u24("class of device"))
    }

    package var encodedCount: Int { 3 }

    package func encode(into output: inout OutputSpan<UInt8>) { output.u24(rawValue) }
}
