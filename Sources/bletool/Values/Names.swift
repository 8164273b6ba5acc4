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

    /// The name of an attribute's type, unless it is that of a member.
    @Sendable static func attribute(_ uuid: BluetoothUUID) -> String? {
        isOfMember(uuid) ? nil : name(uuid)
    }

    /// Whether the SIG gave a UUID to one of its members, whose name it has then. Those are services: a vendor's
    /// characteristic with the same number is not meant.
    static func isOfMember(_ uuid: BluetoothUUID) -> Bool { AssignedNumbers.kind(of: uuid) == .member }

    @Sendable static func company(_ company: CompanyIdentifier) -> String? {
        AssignedNumbers.companyName(company.rawValue)
    }
}

/// The UUID that a SIG name stands for ("Battery Service", "battery_level"), or nil. Some names are those of
/// a service and of a characteristic; the kind says which is rather meant.
typealias UUIDNames = @Sendable (String, AssignedNumbers.UUIDKind) -> BluetoothUUID?

extension BluetoothUUID {
    /// The UUID that `text` spells or names; among equal names, that of `kind`.
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
