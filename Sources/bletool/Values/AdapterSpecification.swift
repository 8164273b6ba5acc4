import BLECore

/// SPEC of `--adapter`: which radio, and who does L2CAP and security on it.
enum AdapterSpecification: Hashable, Sendable {
    /// `hci0` or `hci:AA:BB:CC:DD:EE:FF`: a kernel adapter; the kernel does both.
    case kernel(KernelAdapter)
    /// `user:hci0`: a kernel adapter, exclusively, through the user channel.
    case userChannel(KernelAdapter)
    /// `serial:/dev/ttyACM0?baud=1000000&flow=on`: H4 on a UART. H4 asks for RTS/CTS (Core Specification
    /// 5.4, Vol 4, Part A, 4.4), so that is the default.
    case serial(path: String, baud: UInt32, flowControl: Bool)
    /// `tcp:HOST:PORT`: H4 over TCP.
    case tcp(host: String, port: UInt16)
    /// `unix:PATH`: H4 over a Unix stream socket.
    case unix(path: String)
    /// `virtual` or `virtual:NAME`: a simulated controller on the shared air.
    case virtual(name: String?)

    /// How a kernel adapter is named.
    enum KernelAdapter: Hashable, Sendable {
        /// `hci0`.
        case index(UInt16)
        /// `hci:AA:BB:CC:DD:EE:FF`.
        case address(UInt64)
    }

    private static let forms = """
        hci0, hci:AA:BB:CC:DD:EE:FF, user:hci0, serial:PATH, tcp:HOST:PORT, unix:PATH, virtual or virtual:NAME
        """

    /// The adapter that `text` names.
    init(text: String) throws(BadInput) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? parts[1] : nil
        switch (parts[0], rest) {
        case ("virtual", nil): self = .virtual(name: nil)
        case ("virtual", let name?): self = .virtual(name: try Self.virtualName(name))
        case ("unix", let path?): self = .unix(path: try Self.path(path))
        case ("tcp", let place?): self = try Self.tcp(place)
        case ("serial", let port?): self = try Self.serial(port)
        case ("user", let adapter?):
            guard let adapter = KernelAdapter(adapter) else {
                throw BadInput("\(adapter.quoted) is not a kernel adapter", hint: "user:hci0, for example")
            }
            self = .userChannel(adapter)
        default:
            guard let adapter = KernelAdapter(text) else {
                throw BadInput("\(text.quoted) is not an adapter", hint: "adapters are \(Self.forms)")
            }
            self = .kernel(adapter)
        }
    }

    /// A file's name as far as any system takes it: sockets of Linux have room for 107 octets.
    private static func path(_ text: Substring) throws(BadInput) -> String {
        guard !text.isEmpty else { throw BadInput("the path is empty") }
        guard text.utf8.count <= 107, !text.utf8.contains(0) else {
            throw BadInput("\(text.quoted) is too long for a socket: 107 octets at most")
        }
        return String(text)
    }

    private static func virtualName(_ text: Substring) throws(BadInput) -> String {
        guard (1...200).contains(text.utf8.count), text.printable == text else {
            throw BadInput(
                "\(text.quoted) is no name for an adapter: 1 to 200 octets without control characters")
        }
        return String(text)
    }

    private static func tcp(_ text: Substring) throws(BadInput) -> AdapterSpecification {
        guard let colon = text.lastIndex(of: ":") else {
            throw BadInput("\(text.quoted) has no port", hint: "tcp:HOST:PORT; IPv6 as tcp:[::1]:PORT")
        }
        let port = try UInt16(text: text[text.index(after: colon)...], in: 1...0xffff, "the port")
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw BadInput("\(host.quoted) needs brackets", hint: "IPv6 as tcp:[::1]:PORT")
        }
        guard !host.isEmpty else {
            throw BadInput("the host is empty", hint: "tcp:127.0.0.1:\(port), perhaps")
        }
        return .tcp(host: String(host), port: port)
    }

    private static func serial(_ text: Substring) throws(BadInput) -> AdapterSpecification {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, !path.isEmpty else {
            throw BadInput("the path is empty", hint: "serial:/dev/ttyACM0, for example")
        }
        var (baud, flow) = (UInt32(1_000_000), true)
        for option in parts.count == 2 ? parts[1].split(separator: "&", omittingEmptySubsequences: false) : []
        {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch (pair[0], pair.count == 2 ? pair[1] : "") {
            case ("baud", let value): baud = try UInt32(text: value, in: 1200...20_000_000, "baud")
            case ("flow", "on"): flow = true
            case ("flow", "off"): flow = false
            case ("flow", let value): throw BadInput("flow is on or off, not \(value.quoted)")
            case (let name, _):
                throw BadInput("there is no option \(name.quoted)", hint: "baud=1000000 and flow=on or off")
            }
        }
        return .serial(path: String(path), baud: baud, flowControl: flow)
    }
}

extension AdapterSpecification.KernelAdapter: CustomStringConvertible {
    /// `hci0` or `hci:AA:BB:CC:DD:EE:FF`; the index is below 0xffff, which means none.
    init?(_ text: some StringProtocol) {
        guard text.hasPrefix("hci") else { return nil }
        let name = text.dropFirst(3)
        if name.first == ":", let bits = DeviceAddress.bits(name.dropFirst()) {
            self = .address(bits)
        } else if let index = UInt16.number(name), !name.hasPrefix("0x"), index != .max {
            self = .index(index)
        } else {
            return nil
        }
    }

    /// The text form.
    var description: String {
        switch self {
        case .index(let index): "hci\(index)"
        case .address(let bits): "hci:\(DeviceAddress(bits, type: .public).text)"
        }
    }
}

extension AdapterSpecification: CustomStringConvertible {
    /// The text form.
    var description: String {
        switch self {
        case .kernel(let adapter): "\(adapter)"
        case .userChannel(let adapter): "user:\(adapter)"
        case .serial(let path, let baud, let flow): "serial:\(path)?baud=\(baud)&flow=\(flow ? "on" : "off")"
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .virtual(let name): name.map { "virtual:\($0)" } ?? "virtual"
        }
    }
}
