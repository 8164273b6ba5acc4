import BLECore

/// The overflow area, in which an iOS application in the background advertises its services: manufacturer
/// data of Apple with 128 bits, one or more for each service. Apple does not document which bits belong to
/// which service, and several services share each bit. Only the bits are decoded; the caller provides a table
/// that maps them to services.
///
/// ```swift
/// let area = found.fields.manufacturerData.compactMap { AppleOverflowArea($0) }.first
/// if area?.services(in: [13: myService]) == [myService] { print("an application in the background") }
/// ```
public struct AppleOverflowArea: Hashable, Sendable {
    /// The bits; the most significant bit of the first octet is the first.
    public let mask: UInt128

    /// Creates an area from its 128 bits.
    public init(mask: UInt128) { self.mask = mask }

    /// Decodes manufacturer data; nil if it is not an overflow area.
    public init?(_ manufacturer: ManufacturerData) {
        guard manufacturer.company == .apple, manufacturer.data.count == 17, manufacturer.data[0] == 0x01
        else {
            return nil
        }
        mask = manufacturer.data.dropFirst().reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// The manufacturer data of Apple that contains this area.
    public var manufacturerData: ManufacturerData {
        ManufacturerData(
            .apple, [0x01] + (0..<16).map { UInt8(truncatingIfNeeded: mask >> UInt128(120 - 8 * $0)) })
    }

    /// The numbers of the bits that are set, 0 to 127; 0 is the most significant bit of the first octet.
    public var bits: [Int] { (0..<128).filter { mask >> UInt128(127 - $0) & 1 == 1 } }

    /// Returns the services in the table whose bits are set, in the order of their bits. A set bit is not
    /// proof, because other services share it and other applications set their own bits.
    public func services(in table: [Int: BluetoothUUID]) -> [BluetoothUUID] { bits.compactMap { table[$0] } }
}
