import BLECore

/// When and how to answer a periodic advertising train with responses (Core Specification Supplement v11,
/// Part A, 1.24).
package struct PeriodicAdvertisingResponseTiming: Hashable, Sendable {
    /// The access address of the responses.
    package var accessAddress: UInt32
    /// Subevents in a periodic advertising event, 1 to 128.
    package var subeventCount: UInt8
    /// From one subevent to the next, in units of 1.25 ms; 0 when there is one only.
    package var subeventInterval: UInt8
    /// From the start of a subevent to its first response slot, in units of 1.25 ms.
    package var responseSlotDelay: UInt8
    /// From one response slot to the next, in units of 0.125 ms.
    package var responseSlotSpacing: UInt8

    package init(
        accessAddress: UInt32, subeventCount: UInt8, subeventInterval: UInt8, responseSlotDelay: UInt8,
        responseSlotSpacing: UInt8
    ) {
        self.accessAddress = accessAddress
        self.subeventCount = subeventCount
        self.subeventInterval = subeventInterval
        self.responseSlotDelay = responseSlotDelay
        self.responseSlotSpacing = responseSlotSpacing
    }
}

extension PeriodicAdvertisingResponseTiming: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Periodic Advertising Response Timing Information" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        accessAddress = try reader.u32("RspAA")
        subeventCount = try reader.u8("numSubevents")
        subeventInterval = try reader.u8("subeventInterval")
        responseSlotDelay = try reader.u8("responseSlotDelay")
        responseSlotSpacing = try reader.u8("responseSlotSpacing")
    }

    package var encodedCount: Int { 8 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u32(accessAddress)
        output.u8(subeventCount)
        output.u8(subeventInterval)
        output.u8(responseSlotDelay)
        output.u8(responseSlotSpacing)
    }
}
