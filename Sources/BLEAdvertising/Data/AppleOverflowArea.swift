import BLECore

/// The overflow area, in which an iOS application in the background advertises its services: manufacturer data of
/// Apple with 128 bits, one or more for each service. Apple does not document which bits belong to which service,
/// and several services share each bit. Only the bits are decoded; services are matched by a table of the
/// caller's.
///
/// ```swift
/// let area = found.fields.manufacturerData.compactMap { AppleOverflowArea($0) }.first
/// if area?.services(in: [13: myService]) == [myService] { print("an application in the background") }
/// ```
public struct AppleOverflowArea: Hashable, Sendable {
    /// The bits, the first octet's most significant one first.
    public let mask: UInt128

    /// Creates an area from its 128 bits.
    public init(mask: UInt128) { self.mask = mask }

    /// The area that manufacturer data hold; nil when they are something else.
    public init?(_ manufacturer: ManufacturerData) {
        guard manufacturer.company == .apple, manufacturer.data.count == 17, manufacturer.data[0] == 0x01
        else {
            return nil
        }
        mask = manufacturer.data.dropFirst().reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// The manufacturer data of Apple with this area.
    public var manufacturerData: ManufacturerData {
        ManufacturerData(
            .apple, [0x01] + (0..<16).map { UInt8(truncatingIfNeeded: mask >> UInt128(120 - 8 * $0)) })
    }

    /// The numbers of the bits that are set, 0 to 127; 0 is the most significant one of the first octet.
    public var bits: [Int] { (0..<128).filter { mask >> UInt128(127 - $0) & 1 == 1 } }

    /// The services of the table whose bits are set, in the order of their bits. That a bit is set is no proof: other
    /// services share it, and other applications set theirs.
    public func services(in table: [Int: BluetoothUUID]) -> [BluetoothUUID] { bits.compactMap { table[$0] } }
}
