import AssignedNumbers
import BLEAdvertising
import BLECore

/// Looks up names of assigned numbers.
enum Names {
    /// Returns the UUID with that name of the Bluetooth SIG, preferably one of that kind.
    @Sendable static func uuid(_ name: String, _ kind: AssignedNumbers.UUIDKind) -> BluetoothUUID? {
        AssignedNumbers.uuid(named: name, kind: kind) ?? AssignedNumbers.uuid(named: name)
    }

    @Sendable static func name(_ uuid: BluetoothUUID) -> String? { AssignedNumbers.name(of: uuid) }

    /// Returns the name of an attribute's type, unless the UUID is that of a member.
    @Sendable static func attribute(_ uuid: BluetoothUUID) -> String? {
        isOfMember(uuid) ? nil : name(uuid)
    }

    /// Returns whether the SIG assigned a UUID to one of its members, whose name it then has. Those UUIDs are
    /// for services, so the name does not apply to a vendor's characteristic with the same number.
    static func isOfMember(_ uuid: BluetoothUUID) -> Bool { AssignedNumbers.kind(of: uuid) == .member }

    @Sendable static func company(_ company: CompanyIdentifier) -> String? {
        AssignedNumbers.companyName(company.rawValue)
    }
}

/// Returns the UUID with a SIG name ("Battery Service", "battery_level"), or nil. Some names are those of a
/// service and of a characteristic; the kind determines which of them is preferred.
typealias UUIDNames = @Sendable (String, AssignedNumbers.UUIDKind) -> BluetoothUUID?

extension BluetoothUUID {
    /// Parses the digits or the name of a UUID. Of several UUIDs with the same name, the one of `kind` is
    /// preferred.
    init(
        text: some StringProtocol, kind: AssignedNumbers.UUIDKind = .service, names: UUIDNames
    ) throws(BadInput) {
        guard let uuid = (try? BluetoothUUID(text)) ?? names(String(text), kind) else {
            let isNumber = !text.isEmpty && text.allSatisfy { $0.isHexDigit || $0 == "-" }
            throw BadInput(
                isNumber
                    ? "\(text.quoted) is not a UUID: those have 4, 8, or 32 hex digits with dashes"
                    : "\(text.quoted) is neither a UUID nor a name that the Bluetooth SIG gave to one",
                hint: isNumber ? nil : "`bletool lookup uuid WHAT` finds names")
        }
        self = uuid
    }
}
