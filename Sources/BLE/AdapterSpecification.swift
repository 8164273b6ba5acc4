import BLECore
import HCISocket

/// Which radio to use, and who runs L2CAP and security on it. The text form is what `--adapter` takes.
public enum AdapterSpecification: Hashable, Sendable {
    /// `hci0`: a kernel adapter. The kernel runs L2CAP and security.
    case kernel(index: UInt16)
    /// `hci:AA:BB:CC:DD:EE:FF`: the kernel adapter with that public address.
    case kernelAddress(UInt64)
    /// `tcp:HOST:PORT` or `unix:PATH`: a controller that speaks H4 there. Ours alone.
    case stream(StreamAddress)
    /// `virtual` or `virtual:NAME`: a simulated controller on the air that all processes of the user share.
    /// Without a name it is a new one each time; with it, its address stays.
    case virtual(name: String?)
}

extension AdapterSpecification {
    /// What the text spells, or nil when no adapter is spelled like that.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? String(parts[1]) : nil
        switch (parts[0], rest) {
        case ("virtual", nil): self = .virtual(name: nil)
        case ("virtual", let name?) where !name.isEmpty && name.utf8.count <= 200: self = .virtual(name: name)
        case ("unix", let path?) where !path.isEmpty: self = .stream(.unix(path: path))
        case ("tcp", let place?):
            guard let address = StreamAddress(tcp: place) else { return nil }
            self = .stream(address)
        case ("hci", let address?):
            guard let bits = DeviceAddress.bits(address) else { return nil }
            self = .kernelAddress(bits)
        case (let name, nil) where name.hasPrefix("hci"):
            guard let index = UInt16(name.dropFirst(3)), index != .max else { return nil }
            self = .kernel(index: index)
        default: return nil
        }
    }
}

extension StreamAddress {
    /// `tcp:HOST:PORT` or `unix:PATH`.
    public init?(text: some StringProtocol) {
        guard case .stream(let address)? = AdapterSpecification(text) else { return nil }
        self = address
    }

    /// `HOST:PORT`, the host perhaps in brackets, as IPv6 addresses need them.
    init?(tcp text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self = .tcp(host: String(host), port: port)
    }
}

extension AdapterSpecification: CustomStringConvertible {
    /// The text form.
    public var description: String {
        switch self {
        case .kernel(let index): "hci\(index)"
        case .kernelAddress(let value): "hci:\(DeviceAddress(value, type: .public).text)"
        case .stream(let address): address.description
        case .virtual(let name): name.map { "virtual:\($0)" } ?? "virtual"
        }
    }
}
