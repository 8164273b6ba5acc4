import AssignedNumbers
import BLEAdvertising
import BLECore

/// The names of assigned numbers.
enum Names {
    /// The UUID that a name of the Bluetooth SIG stands for, rather one of that kind.
    @Sendable static func uuid(_ name: String, _ kind: AssignedNumbers.UUIDKind) -> BluetoothUUID? {
        AssignedNumbers.uuid(named: name, kind: kind) ?? AssignedNumbers.uuid(named: name)
    }

    @Sendable static func name(_ uuid: BluetoothUUID) -> String? { AssignedNumbers.name(of: uuid) }

    /// The name of an attribute's type, unless it is that of a member.
    @Sendable static func attribute(_ uuid: BluetoothUUID) -> String? {
        isOfMember(uuid) ? nil : name(uuid)
    }

    /// Whether the SIG gave a UUID to one of its members, whose name it has then. Those are services: a vendor's
    /// characteristic with the same number is not meant.
    static func isOfMember(_ uuid: BluetoothUUID) -> Bool { AssignedNumbers.kind(of: uuid) == .member }

    /// The name of a company.
    @Sendable static func company(_ company: CompanyIdentifier) -> String? {
        AssignedNumbers.companyName(company.rawValue)
    }
}
