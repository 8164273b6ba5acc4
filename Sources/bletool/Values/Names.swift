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

    /// Returns `; did you mean "Battery Level"?` with the name that is most similar to an unknown one, or an
    /// empty text. If a name of `kind` is similar enough, others are not considered. A service's name may lack
    /// the word Service.
    static func suggestion(
        for text: some StringProtocol, of kind: AssignedNumbers.UUIDKind? = nil
    ) -> String {
        let all = AssignedNumbers.uuids(containing: "").filter {
            let its = AssignedNumbers.kind(of: $0.uuid)
            return its != .member && (kind == nil || its == kind)
        }
        let word = text.lowercased().map { $0 == "_" || $0 == "-" ? " " : String($0) }.joined()
        let found = all.flatMap { entry in
            entry.name.hasSuffix(" Service") ? [entry.name, String(entry.name.dropLast(8))] : [entry.name]
        }.suggestion(for: word)
        return found.isEmpty && kind != nil ? suggestion(for: text) : found
    }

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
                    : "\(text.quoted) is neither a UUID nor a name that the Bluetooth SIG gave to one"
                        + Names.suggestion(for: text, of: kind),
                hint: isNumber ? nil : "`bletool lookup uuid WHAT` finds names")
        }
        self = uuid
    }
}
