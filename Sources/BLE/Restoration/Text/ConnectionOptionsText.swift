import ATT
import BLECore
import HCI
import HCISocket

/// The lines of a file that describe the options of a link, among other lines.
extension ConnectionOptions {
    func write(to writer: inout TextWriter) {
        writer.line("mtu", "\(mtu.octets)")
        writer.line("security", security.kernelName)
        writer.line("encrypts-if-bonded", TextValue.text(encryptsIfBonded))
        writer.line("raises-security", TextValue.text(raisesSecurity))
        if let parameters {
            writer.line(
                "timing", TextValue.text(parameters.interval.lowerBound),
                TextValue.text(parameters.interval.upperBound),
                "\(parameters.latency)", TextValue.text(parameters.supervisionTimeout))
        }
        writer.line("phys", ifThere: phys.map { "0x\(PHYSet($0).rawValue.hex)" })
        writer.line("background", background.rawValue)
        writer.line("establishment-attempts", "\(establishmentAttempts)")
    }

    /// Reads a line. Returns false when the line is not about these options.
    mutating func read(_ line: TextSection.Line) throws(TextError) -> Bool {
        switch line.key {
        case "mtu": mtu = ATTMTU(try line.value { UInt16($0) })
        case "security":
            security = try line.value { SecurityLevel(kernelName: $0) }
        case "encrypts-if-bonded": encryptsIfBonded = try line.value(TextValue.flag)
        case "raises-security": raisesSecurity = try line.value(TextValue.flag)
        case "timing": parameters = try ConnectionParameters(line)
        case "phys": phys = PHYSet(rawValue: try line.value(TextValue.bits)).phys
        case "background": background = try line.value { ScanOptions.Preset(rawValue: String($0)) }
        case "establishment-attempts": establishmentAttempts = try line.value { Int($0) }
        default: return false
        }
        return true
    }
}

extension ConnectionParameters {
    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = try line.values(4)
        let least = try line.value(of: words[0], TextValue.duration)
        let most = try line.value(of: words[1], TextValue.duration)
        guard least <= most else { throw line.isNoValue(line.rest) }
        self.init(
            interval: least...most, latency: try line.value(of: words[2]) { Int($0) },
            supervisionTimeout: try line.value(of: words[3], TextValue.duration))
    }
}
