import BLECore

/// The names of files and folders of bonds.
enum BondFile: String {
    case bond
    case database

    /// The name of an address: `C0:11:22:33:44:55-random`.
    static func name(_ address: DeviceAddress) -> String { "\(address.text)-\(address.type)" }

    /// Returns the address that a file name stands for; nil if it is no name of a bond.
    static func address(_ name: some StringProtocol) -> DeviceAddress? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        // Only the very name that `name` gives, so that no two files are of one bond.
        guard parts.count == 2, let address = DeviceAddress("\(parts[0])/\(parts[1])"),
            Self.name(address) == name
        else { return nil }
        return address
    }

    /// The peer whose file of a kind has that name.
    static func peer(of name: String, _ kind: BondFile) -> DeviceAddress? {
        let suffix = ".\(kind.rawValue)"
        return name.hasSuffix(suffix) ? address(name.dropLast(suffix.count)) : nil
    }

    /// The name of the file with an adapter's address. What is no letter, digit, dot, dash or underscore is % and two
    /// digits an octet, so that the name is one and none of another sort.
    static func name(adapter: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8)
        var name = ""
        for octet in adapter.utf8 {
            name += plain.contains(octet) ? String(UnicodeScalar(octet)) : "%\(octet.hex)"
        }
        return "\(name).address"
    }
}
