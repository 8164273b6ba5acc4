import BLECore
import SMP

/// An identity of this host as a file has it, and an export.
extension LocalIdentity {
    static let kind = "identity"

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("address", "\(address)")
        writer.line("identity-key", identityKey.hex)
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var (address, key): (DeviceAddress?, UInt128?)
        for line in section.lines {
            switch line.key {
            case "address": address = try line.value { DeviceAddress($0) }
            case "identity-key": key = try line.value(TextValue.digits)
            default: throw line.isUnknown
            }
        }
        self.init(
            address: try section.required(address, "address"), identityKey: try section.required(key, "key"))
    }
}
