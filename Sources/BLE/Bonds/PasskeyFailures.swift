import BLECore
import SMP

/// The failed pairings with the fixed passkey of this host. Each one can show two of the passkey's 20 bits to a
/// stranger (Core Specification 5.4, Vol 3, Part H, 2.3.5.6.3), so their number is kept as long as the passkey is.
struct PasskeyFailures: Hashable, Sendable {
    var passkey: Passkey
    /// The number of failures, at least 1.
    var count: Int

    /// Returns the failures with the one passkey that is used now, as two processes have counted them.
    func merged(with other: PasskeyFailures?) -> PasskeyFailures {
        guard let other, other.passkey == passkey else { return self }
        return PasskeyFailures(passkey: passkey, count: max(count, other.count))
    }
}

/// The text form in the file `passkey`, which is as secret as the keys of the bonds beside it.
extension PasskeyFailures {
    static let kind = "passkey"

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("passkey", "\(passkey)")
        writer.line("failures", "\(count)")
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var (passkey, count): (Passkey?, Int?)
        for line in section.lines {
            switch line.key {
            case "passkey": passkey = try line.value { Passkey($0) }
            case "failures": count = try line.value { Int($0).flatMap { $0 > 0 ? $0 : nil } }
            default: throw line.isUnknown
            }
        }
        self.init(
            passkey: try section.required(passkey, "passkey"), count: try section.required(count, "failures"))
    }
}
