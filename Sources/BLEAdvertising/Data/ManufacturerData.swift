import BLECore

/// The number that the Bluetooth SIG assigned to a company (Assigned Numbers, 7.1).
public struct CompanyIdentifier: RawRepresentable, Hashable, Sendable {
    /// The number of the company in the SIG's Assigned Numbers.
    public let rawValue: UInt16

    /// Creates the identifier from its number, which does not need to be assigned.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Apple, Inc. (0x004C), which iBeacons use.
    public static let apple: Self = 0x004c
    /// The identifier for tests before a product ships (0xFFFF), which is assigned to no company.
    public static let test: Self = 0xffff
}

extension CompanyIdentifier: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates the identifier from its number, which does not need to be assigned.
    public init(integerLiteral value: UInt16) { self.init(rawValue: value) }

    /// The number in hexadecimal, for example `0x004c`.
    public var description: String { "0x" + rawValue.hex }
}

/// Manufacturer specific data, in a format that the company defines (Core Specification Supplement v11, Part
/// A, 1.4).
public struct ManufacturerData: Hashable, Sendable {
    /// The company that defines the data.
    public var company: CompanyIdentifier
    /// The octets after the company identifier.
    public var data: [UInt8]

    /// Creates the data of a company.
    public init(_ company: CompanyIdentifier, _ data: [UInt8]) {
        self.company = company
        self.data = data
    }
}

extension ManufacturerData: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Manufacturer Specific Data" }

    /// Reads the company, and all remaining octets as its data.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        company = CompanyIdentifier(rawValue: try reader.u16("company identifier"))
        data = reader.rest()
    }

    package var encodedCount: Int { 2 + data.count }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u16(company.rawValue)
        output.bytes(data)
    }
}
