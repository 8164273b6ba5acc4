import ArgumentParser
import AssignedNumbers
import BLECore

struct LookupCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "Look up assigned numbers: by number, or by part of the name.",
        usage: "bletool lookup <kind> <what> ...",
        discussion: """
            The owner of an address is looked up in the IEEE's lists if the system has them (ieee-data on Debian and Ubuntu, \
            hwdata on Fedora and Arch).

            Examples: lookup company 0x004c; lookup uuid battery; lookup appearance watch; lookup oui 00:1A:7D
            """)

    /// The kinds of assigned numbers.
    enum Kind: String, CaseIterable {
        case company, uuid, appearance, oui

        /// A number of this kind, for messages.
        var example: String {
            switch self {
            case .company: "0x004c"
            case .uuid: "180f"
            case .appearance: "0x00c0"
            case .oui: "00:1A:7D"
            }
        }
    }

    @Argument(
        help: ArgumentHelp("The kind of number: company, uuid, appearance or oui.", valueName: "kind"),
        completion: .list(Kind.allCases.map(\.rawValue)))
    var kind: String

    @Argument(
        help: ArgumentHelp("A number, an address or its beginning, or part of a name.", valueName: "what"))
    var what: [String] = []

    @OptionGroup var global: PlainOptions

    var output: OutputOptions { global.output }

    func perform(_ console: Console) async throws(Failure) {
        try global.refuse(for: "lookup")
        for entry in try found() { guard console.show(entry) else { return } }
    }

    /// Returns the entries with that number or, if there are none, those whose names contain the text. Throws
    /// a failure if nothing is found.
    func found() throws(Failure) -> [AssignedNumberEvent] {
        guard let kind = Kind(rawValue: kind) else {
            throw Failure(
                .usage, "lookup", "\(kind.quoted) is not a kind of number",
                hint: "kinds are \(Kind.allCases.map(\.rawValue).joined(separator: ", ")), "
                    + "as in: lookup uuid \((what.isEmpty ? kind : what.joined(separator: " ")).printable)")
        }
        let text = what.joined(separator: " ")
        guard !text.isEmpty else {
            throw Failure(
                .usage, "lookup", "there is nothing to look up",
                hint: "a number or a part of its name, as in: lookup \(kind.rawValue) \(kind.example)")
        }
        let found =
            switch kind {
            case .company: Self.companies(text)
            case .uuid: Self.uuids(text)
            case .appearance: Self.appearances(text)
            case .oui: try Self.organizations(text)
            }
        guard !found.isEmpty else {
            let suggestion = kind == .uuid ? Names.suggestion(for: text) : ""
            throw Failure(
                .notFound, text.quoted, "no \(kind.rawValue) has that number or name\(suggestion)",
                hint: kind == .oui
                    ? "random addresses have none: only public addresses name a manufacturer" : nil)
        }
        return found
    }

    private static func companies(_ text: String) -> [AssignedNumberEvent] {
        number(text).flatMap { number in AssignedNumbers.companyName(number).map { [.company(number, $0)] } }
            ?? AssignedNumbers.companies(containing: text).map { .company($0.identifier, $0.name) }
    }

    private static func uuids(_ text: String) -> [AssignedNumberEvent] {
        (try? BluetoothUUID(text)).flatMap { uuid in AssignedNumbers.name(of: uuid).map { [.uuid(uuid, $0)] }
        }
            ?? AssignedNumbers.uuids(containing: text).map { .uuid($0.uuid, $0.name) }
    }

    private static func appearances(_ text: String) -> [AssignedNumberEvent] {
        number(text).flatMap { number in
            AssignedNumbers.appearanceName(number).map { [.appearance(number, $0)] }
        } ?? AssignedNumbers.appearances(containing: text).map { .appearance($0.appearance, $0.name) }
    }

    private static func organizations(_ text: String) throws(Failure) -> [AssignedNumberEvent] {
        guard let prefixes = AddressPrefixes() else {
            throw Failure(
                .notFound, "lookup oui", "this system has no list of the IEEE's prefixes",
                hint: "install ieee-data (Debian, Ubuntu) or hwdata (Fedora, Arch)")
        }
        return prefixes.matching(text).map { .oui($0.digits, $0.organization) }
    }

    /// Parses a number in decimal, or in hexadecimal after `0x`. Four digits that are not a decimal number,
    /// as with a leading zero, are hexadecimal, as in the tables of assigned numbers.
    private static func number(_ text: String) -> UInt16? {
        UInt16.number(text) ?? (text.count == 4 ? UInt16.number("0x\(text)") : nil)
    }
}

/// A result of `lookup`: a number and its name.
enum AssignedNumberEvent: Event {
    /// A company identifier and the name of the company.
    case company(UInt16, String)
    /// A UUID and its assigned name.
    case uuid(BluetoothUUID, String)
    /// The number and name of an appearance.
    case appearance(UInt16, String)
    /// The first digits of public addresses and the organization that owns them.
    case oui(String, String)

    var json: JSONValue {
        switch self {
        case .company(let number, let name):
            ["event": "company", "company": JSONValue(number), "companyName": JSONValue(name)]
        case .uuid(let uuid, let name):
            [
                "event": "uuid", "uuid": JSONValue(uuid), "name": JSONValue(name),
                "kind": JSONValue(AssignedNumbers.kind(of: uuid).map { "\($0)" }),
            ]
        case .appearance(let number, let name):
            ["event": "appearance", "appearance": JSONValue(number), "name": JSONValue(name)]
        case .oui(let digits, let name):
            ["event": "oui", "oui": JSONValue(digits.lowercased()), "name": JSONValue(name)]
        }
    }

    func lines(colored: Bool) -> [String] {
        switch self {
        case .company(let number, let name), .appearance(let number, let name):
            ["\(Style.cyan("0x\(number.hex)", when: colored))  \(name)"]
        case .uuid(let uuid, let name):
            [
                "\(Style.cyan("\(uuid)", when: colored))  \(name)\(AssignedNumbers.kind(of: uuid).map { " (\($0))" } ?? "")"
            ]
        case .oui(let digits, let name):
            ["\(Style.cyan(Self.octets(digits), when: colored))  \(name)"]
        }
    }

    /// Returns the digits in pairs with colons, as in addresses. If their number is odd, the last digit
    /// stands alone.
    private static func octets(_ digits: String) -> String {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, index.isMultiple(of: 2) { text += ":" }
            text.append(digit)
        }
        return text
    }
}
