import BLECore

/// The payload of an Eddystone-URL beacon: service data of 0xFEAA with a web address in at most 18 octets.
///
/// ```swift
/// var content = AdvertisingContent()
/// content.eddystoneURL = try EddystoneURL("https://example.com/a")
/// ```
public struct EddystoneURL: Hashable, Sendable {
    /// The service of Eddystone data, which an advertisement must also list.
    package static let service: BluetoothUUID = EddystoneFrame.service

    /// Signal strength at the antenna (0 m), in dBm.
    public let power: Int8
    /// The address as sent: the octet of its scheme, then the rest, in which single octets replace some
    /// endings.
    package let octets: [UInt8]

    /// Creates the beacon of a web address. The default `power` approximates a radio that transmits at 0 dBm.
    ///
    /// Throws `AdvertisingPlanError.invalid` when the address does not begin with a scheme of the table or
    /// has characters other than printable ASCII, and `.overflow` when it takes more than 18 octets.
    public init(_ url: String, power: Int8 = -18) throws(AdvertisingPlanError) {
        guard let scheme = Self.schemes.firstIndex(where: { url.hasPrefix($0) }) else {
            throw .invalid(.serviceData, .urlScheme(allowed: Self.schemes))
        }
        var octets = [UInt8(truncatingIfNeeded: scheme)]
        var rest = url.dropFirst(Self.schemes[scheme].count)
        while let character = rest.first {
            if let ending = Self.endings.firstIndex(where: { rest.hasPrefix($0) }) {
                octets.append(UInt8(truncatingIfNeeded: ending))
                rest = rest.dropFirst(Self.endings[ending].count)
            } else if let ascii = character.asciiValue, Self.printable.contains(ascii) {
                octets.append(ascii)
                rest = rest.dropFirst()
            } else {
                throw .invalid(.serviceData, .urlCharacter(character))
            }
        }
        guard octets.count <= Self.limit else {
            throw .overflow(.init(.serviceData, octets: octets.count, limit: Self.limit))
        }
        self.power = power
        self.octets = octets
    }

    /// Decodes service data; nil if it is not a valid Eddystone-URL.
    package init?(_ service: ServiceData) {
        guard case .url(let beacon)? = try? EddystoneFrame(service) else { return nil }
        self = beacon
    }

    /// Reads the octets after the frame type.
    init(decoding reader: inout ByteReader) throws(DecodeError) {
        power = try reader.i8("power")
        let scheme = try reader.u8("URL scheme")
        guard scheme < Self.schemes.count else { throw reader.invalid("URL scheme", value: scheme, width: 1) }
        guard reader.remaining < Self.limit else {
            throw reader.failure("URL", .malformed("takes more than \(Self.limit - 1) octets"))
        }
        var octets = [scheme]
        while reader.remaining > 0 {
            let octet = try reader.u8("URL")
            guard octet < Self.endings.count || Self.printable.contains(octet) else {
                throw reader.invalid("URL", value: octet, width: 1)
            }
            octets.append(octet)
        }
        self.octets = octets
    }

    /// The URL with its scheme and endings expanded.
    public var url: String {
        octets.dropFirst().reduce(octets.first.map { Self.schemes[Int($0)] } ?? "") { url, octet in
            url + (octet < Self.endings.count ? Self.endings[Int(octet)] : String(Unicode.Scalar(octet)))
        }
    }

    /// The service data that a beacon with this URL advertises.
    public var serviceData: ServiceData {
        ServiceData(Self.service, [Self.frameType, UInt8(bitPattern: power)] + octets)
    }

    static let frameType: UInt8 = 0x10
    /// The maximum number of octets of an encoded URL, including the octet of its scheme.
    private static let limit = 18
    private static let printable: ClosedRange<UInt8> = 0x21...0x7e
    private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
    private static let endings = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/",
        ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov",
    ]
}
