import BLECore

/// A version of the Core Specification, as numbered in HCI and the link layer (Assigned Numbers, 2.1).
public struct CoreVersion: HCICode, Comparable {
    /// The number of the version in the SIG's Assigned Numbers.
    public let rawValue: UInt8

    /// Creates a version from the number that controllers report: 9 is 5.0, 13 is 5.4.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Core Specification 4.0, the first with Low Energy.
    public static let v4_0 = CoreVersion(rawValue: 6)
    /// Core Specification 4.1, of 2013.
    public static let v4_1 = CoreVersion(rawValue: 7)
    /// Core Specification 4.2, of 2014.
    public static let v4_2 = CoreVersion(rawValue: 8)
    /// Core Specification 5.0, the first with extended advertising.
    public static let v5_0 = CoreVersion(rawValue: 9)
    /// Core Specification 5.1, of 2019.
    public static let v5_1 = CoreVersion(rawValue: 10)
    /// Core Specification 5.2, of 2019.
    public static let v5_2 = CoreVersion(rawValue: 11)
    /// Core Specification 5.3, of 2021.
    public static let v5_3 = CoreVersion(rawValue: 12)
    /// Core Specification 5.4, of 2023.
    public static let v5_4 = CoreVersion(rawValue: 13)

    /// Orders the older version first.
    public static func < (left: CoreVersion, right: CoreVersion) -> Bool { left.rawValue < right.rawValue }
}

extension CoreVersion: CustomStringConvertible {
    /// The version as "5.4", or its number as "0x20" if it is unknown.
    public var description: String {
        let index = Int(rawValue)
        return Self.names.indices.contains(index) ? Self.names[index] : "0x" + rawValue.hex
    }

    private static let names = [
        "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4",
        "6.0",
    ]
}
