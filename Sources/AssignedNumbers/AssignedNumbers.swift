import BLECore

/// The numbers that the Bluetooth SIG and others have assigned, and their names.
///
/// ```swift
/// AssignedNumbers.companyName(0x004c)           // "Apple, Inc."
/// AssignedNumbers.name(of: 0x180f)              // "Battery Service"
/// AssignedNumbers.uuid(named: "battery_level")  // 2a19
/// AssignedNumbers.appearanceName(0x00c1)        // "Sports Watch"
/// ```
package enum AssignedNumbers {
    /// The kind of object that a UUID identifies.
    package enum UUIDKind: Hashable, Sendable, CaseIterable {
        case service
        case characteristic
        case descriptor
        /// An attribute that declares a service, an include or a characteristic.
        case declaration
        /// A service of a SIG member, named after the member.
        case member

        fileprivate var tables: [NumberTable] {
            switch self {
            case .service: [.services, .vendorServices]
            case .characteristic: [.characteristics, .vendorCharacteristics]
            case .descriptor: [.descriptors]
            case .declaration: [.declarations]
            case .member: [.members]
            }
        }
    }

    package static func companyName(_ identifier: UInt16) -> String? {
        NumberTable.companies.name(of: UInt128(identifier))
    }

    /// Returns the name of a UUID: that of a service, a characteristic, a descriptor, a declaration, or the
    /// SIG member to which the service belongs.
    package static func name(of uuid: BluetoothUUID) -> String? {
        entry(of: uuid)?.name
    }

    /// Returns the kind of object that a UUID identifies, or nil if the UUID has no name.
    package static func kind(of uuid: BluetoothUUID) -> UUIDKind? {
        entry(of: uuid)?.kind
    }

    /// Returns the UUID with that name. Case is ignored, spaces, underscores and hyphens are equivalent, and
    /// a service is found with and without the word "service". A service takes precedence over a
    /// characteristic with the same name, unless `kind` specifies one. A name that several UUIDs of a kind
    /// share gives nil.
    package static func uuid(named name: String, kind: UUIDKind? = nil) -> BluetoothUUID? {
        let pattern = NamePattern(name)
        for kind in kind.map({ [$0] }) ?? UUIDKind.allCases {
            if let uuid = only(kind, pattern) { return uuid }
        }
        guard kind ?? .service == .service else { return nil }
        let suffix = " service"
        let other =
            name.lowercased().hasSuffix("service") ? String(name.dropLast(suffix.count)) : name + suffix
        return only(.service, NamePattern(other))
    }

    /// Returns the name of an appearance: that of its subcategory, or of its category if the subcategory has
    /// no name.
    package static func appearanceName(_ appearance: UInt16) -> String? {
        Appearances.name(of: appearance)
    }

    private static func entry(of uuid: BluetoothUUID) -> (kind: UUIDKind, name: String)? {
        let digits = uuid.uint16 == nil ? 32 : 4
        let number = uuid.uint16.map { UInt128($0) } ?? uuid.value
        for kind in UUIDKind.allCases {
            for table in kind.tables where table.digits == digits {
                if let name = table.name(of: number) { return (kind, name) }
            }
        }
        return nil
    }

    private static func only(_ kind: UUIDKind, _ pattern: NamePattern) -> BluetoothUUID? {
        let found = uuids(kind) { pattern.isWhole($0) }
        return found.count == 1 ? found[0].uuid : nil
    }

    private static func uuids(
        _ kind: UUIDKind, where matches: (Span<UInt8>) -> Bool
    ) -> [(uuid: BluetoothUUID, name: String)] {
        kind.tables.flatMap { table in
            table.entries(where: matches).map { number, name in
                (UInt16(exactly: number).map { BluetoothUUID($0) } ?? BluetoothUUID(number), name)
            }
        }
    }
}

extension AssignedNumbers {
    /// Returns the companies whose names contain `part`, in the order of their identifiers.
    package static func companies(containing part: String) -> [(identifier: UInt16, name: String)] {
        let pattern = NamePattern(part)
        return NumberTable.companies.entries { pattern.isPart($0) }
            .map { (UInt16(truncatingIfNeeded: $0.number), $0.name) }
    }

    /// Returns the UUIDs whose names contain `part`, grouped by kind.
    package static func uuids(containing part: String) -> [(uuid: BluetoothUUID, name: String)] {
        let pattern = NamePattern(part)
        return UUIDKind.allCases.flatMap { uuids($0) { pattern.isPart($0) } }
    }

    /// Returns the appearances whose names contain `part`, in the order of their numbers.
    package static func appearances(containing part: String) -> [(appearance: UInt16, name: String)] {
        Appearances.containing(NamePattern(part))
    }
}

/// A name to search for. Case is ignored, and spaces, underscores and hyphens are equivalent.
struct NamePattern {
    private let octets: [UInt8]

    init(_ name: some StringProtocol) { octets = name.utf8.map(Self.fold) }

    /// Returns whether `name` equals the pattern.
    func isWhole(_ name: Span<UInt8>) -> Bool { name.count == octets.count && matches(name, at: 0) }

    /// Returns whether `name` contains the pattern.
    func isPart(_ name: Span<UInt8>) -> Bool {
        name.count >= octets.count && (0...(name.count - octets.count)).contains { matches(name, at: $0) }
    }

    private func matches(_ name: Span<UInt8>, at start: Int) -> Bool {
        octets.indices.allSatisfy { Self.fold(name[start + $0]) == octets[$0] }
    }

    private static func fold(_ octet: UInt8) -> UInt8 {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): octet | 0x20
        case UInt8(ascii: "_"), UInt8(ascii: "-"): UInt8(ascii: " ")
        default: octet
        }
    }
}
