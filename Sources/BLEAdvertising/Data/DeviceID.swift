import BLECore

/// Who made a BR/EDR device, in extended inquiry responses (Device Identification Profile 1.3, 5).
package struct DeviceID: Hashable, Sendable {
    /// The organization that assigned the vendor's number: 1 the Bluetooth SIG, 2 the USB Implementer's Forum.
    package var vendorSource: UInt16
    /// The number that `vendorSource` assigned to the vendor.
    package var vendor: UInt16
    /// The product, by the vendor's count.
    package var product: UInt16
    /// The version in BCD: 0x0123 is 1.2.3.
    package var version: UInt16

    package init(vendorSource: UInt16, vendor: UInt16, product: UInt16, version: UInt16) {
        self.vendorSource = vendorSource
        self.vendor = vendor
        self.product = product
        self.version = version
    }
}

extension DeviceID: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Device ID" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        vendorSource = try reader.u16("vendor ID source")
        vendor = try reader.u16("vendor ID")
        product = try reader.u16("product ID")
        version = try reader.u16("version")
    }

    package var encodedCount: Int { 8 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        for value in [vendorSource, vendor, product, version] { output.u16(value) }
    }
}
