import AssignedNumbers
import BLEAdvertising
import BLECore

/// Looks up names of assigned numbers.
enum Names {
    /// The UUID that a name of the Bluetooth SIG stands for, rather one of that kind.
    @Sendable static func uuid(_ name: String, _ kind: AssignedNumbers.UUIDKind) -> BluetoothUUID? {
        AssignedNumbers.uuid(named: name, kind: kind) ?? AssignedNumbers.uuid(named: name)
    }

    @Sendable static func name(_ uuid: BluetoothUUID) -> String? { AssignedNumbers.name(of: uuid) }

    @Sendable static func company(_ company: CompanyIdentifier) -> String? {
        AssignedNumbers.companyName(company.rawValue)
    }
}
