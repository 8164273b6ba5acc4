import BLECore
import HCISocket

/// The radio to use, and with it whether the kernel or this process runs L2CAP and security. The text form is
/// the argument of `--adapter`.
public enum AdapterSpecification: Hashable, Sendable {
    /// `hci0` or `hci:AA:BB:CC:DD:EE:FF`: a kernel adapter. The kernel runs L2CAP and security.
    case kernel(KernelAdapter)
    /// `user:hci0`: a kernel adapter through the HCI user channel, which only this process uses.
    case userChannel(KernelAdapter)
    /// `serial:/dev/ttyACM0?baud=1000000&flow=on`: a controller that speaks H4 on a UART. H4 requires RTS/CTS
    /// (Core Specification 5.4, Vol 4, Part A, 4.4), so flow control is on unless the text contains `flow=off`.
    case serial(path: String, baud: UInt32, flowControl: Bool)
    /// `tcp:HOST:PORT` or `unix:PATH`: a controller that speaks H4 on a TCP or Unix stream socket, for this
    /// process alone.
    case stream(StreamAddress)
    /// `virtual` or `virtual:NAME`: a simulated controller on the air that all processes of the user share.
    /// Without a name it is a new controller each time; with a name it has the same address each time.
    case virtual(name: String?)

    /// How a kernel adapter is named.
    public enum KernelAdapter: Hashable, Sendable {
        /// `hci0`: the adapter to which the kernel gives this index.
        case index(UInt16)
        /// `hci:AA:BB:CC:DD:EE:FF`: the adapter with that public address.
        case address(UInt64)
        /// `hci:usb:1-1.4`: the adapter in that USB port, as the kernel numbers ports.
        case usb(String)
    }
}

extension AdapterSpecification: CustomStringConvertible {
    /// The adapter in the form that `init(_:)` reads.
    public var description: String {
        switch self {
        case .kernel(let adapter): "\(adapter)"
        case .userChannel(let adapter): "user:\(adapter)"
        case .serial(let path, let baud, let flow): "serial:\(path)?baud=\(baud)&flow=\(flow ? "on" : "off")"
        case .stream(let address): address.description
        case .virtual(let name): name.map { "virtual:\($0)" } ?? "virtual"
        }
    }
}

extension AdapterSpecification.KernelAdapter: CustomStringConvertible {
    /// The adapter as `--adapter` names it, as in `hci0`.
    public var description: String {
        switch self {
        case .index(let index): "hci\(index)"
        case .address(let bits): "hci:\(DeviceAddress(bits, type: .public).text)"
        case .usb(let port): "hci:usb:\(port)"
        }
    }
}

/// Why a text is not a valid adapter specification or socket address.
public enum AdapterSpecificationError: Error, Hashable, Sendable {
    /// The text has none of the forms of an adapter specification.
    case adapter(String)
    /// The adapter of an HCI user channel is not one of the kernel's.
    case kernelAdapter(String)
    /// The name of a virtual adapter is empty, has more than `limit` octets, or has control characters.
    case name(String, limit: Int)
    /// The text has neither the form `unix:PATH` nor `tcp:HOST:PORT`.
    case place(String)
    /// The path is empty.
    case emptyPath
    /// The path has more than `limit` octets, the most that a socket's path can have, or contains a zero octet.
    case path(String, limit: Int)
    /// The host is empty.
    case emptyHost
    /// An IPv6 address is not in brackets.
    case unbracketed(String)
    /// The text has no port.
    case missingPort(String)
    /// The port is not a number from 1 to 65535.
    case port(String)
    /// The text has an option that serial ports do not have.
    case option(String)
    /// The option of a serial port has an invalid value.
    case optionValue(String, of: SerialOption)

    /// An option of a serial port.
    public enum SerialOption: String, Hashable, Sendable {
        /// The baud rate in bits per second, 1200 to 20000000.
        case baud
        /// Whether RTS and CTS control the flow of data.
        case flow
    }
}

extension AdapterSpecificationError: CustomStringConvertible {
    /// A one-line description of the problem.
    public var description: String {
        switch self {
        case .adapter(let text): "\(text.debugDescription) is not an adapter"
        case .kernelAdapter(let text): "\(text.debugDescription) is not a kernel adapter"
        case .name(let text, let limit):
            "\(text.debugDescription) is no name for an adapter: 1 to \(limit) octets without control characters"
        case .place(let text): "\(text.debugDescription) is no place for a socket"
        case .emptyPath: "the path is empty"
        case .path(let text, let limit):
            "\(text.debugDescription) is too long for a socket: \(limit) octets at most"
        case .emptyHost: "the host is empty"
        case .unbracketed(let text): "\(text.debugDescription) needs brackets"
        case .missingPort(let text): "\(text.debugDescription) has no port"
        case .port(let text): "the port must be 1 to 65535, not \(text.debugDescription)"
        case .option(let name): "there is no option \(name.debugDescription)"
        case .optionValue(let value, .baud): "baud must be 1200 to 20000000, not \(value.debugDescription)"
        case .optionValue(let value, .flow): "flow is on or off, not \(value.debugDescription)"
        }
    }

    /// A hint at a correct text; nil where `description` already contains it.
    package var hint: String? {
        switch self {
        case .adapter:
            """
            adapters are hci0, hci:AA:BB:CC:DD:EE:FF, hci:usb:1-1.4, user:hci0, serial:PATH, tcp:HOST:PORT, \
            unix:PATH, virtual or virtual:NAME
            """
        case .kernelAdapter: "user:hci0, for example"
        case .place: "unix:PATH or tcp:HOST:PORT"
        case .emptyHost: "tcp:127.0.0.1:PORT, perhaps"
        case .unbracketed: "IPv6 as tcp:[::1]:PORT"
        case .missingPort: "tcp:HOST:PORT; IPv6 as tcp:[::1]:PORT"
        case .option: "baud=1000000 and flow=on or off"
        case .name, .emptyPath, .path, .port, .optionValue: nil
        }
    }
}

extension AdapterSpecification {
    /// The maximum length of a Unix socket's path in octets: Linux has room for 108, including the final
    /// zero.
    private static let pathLimit = 107
    /// The maximum length of a virtual adapter's name in octets.
    private static let nameLimit = 200

    /// Parses a specification, such as `hci0`. Throws `AdapterSpecificationError` for other texts.
    public init(_ text: some StringProtocol) throws(AdapterSpecificationError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? String(parts[1]) : nil
        switch (parts[0], rest) {
        case ("virtual", nil): self = .virtual(name: nil)
        case ("virtual", let name?): self = .virtual(name: try Self.virtualName(name))
        case ("unix", _?), ("tcp", _?):
            let address = try StreamAddress(text)
            if case .tcp(_, port: 0) = address {
                throw .port("0")
            }
            self = .stream(address)
        case ("serial", let port?): self = try Self.serial(port)
        case ("user", let name?):
            guard let adapter = KernelAdapter(name) else {
                throw .kernelAdapter(name)
            }
            self = .userChannel(adapter)
        default:
            guard let adapter = KernelAdapter(text) else {
                throw .adapter(String(text))
            }
            self = .kernel(adapter)
        }
    }

    private static func virtualName(_ text: String) throws(AdapterSpecificationError) -> String {
        let isShown = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned: false
            default: true
            }
        }
        guard (1...nameLimit).contains(text.utf8.count), isShown else {
            throw .name(text, limit: nameLimit)
        }
        return text
    }

    fileprivate static func path(_ text: String) throws(AdapterSpecificationError) -> String {
        guard !text.isEmpty else { throw .emptyPath }
        guard text.utf8.count <= pathLimit, !text.utf8.contains(0) else {
            throw .path(text, limit: pathLimit)
        }
        return text
    }

    private static func serial(_ text: String) throws(AdapterSpecificationError) -> AdapterSpecification {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, !path.isEmpty else { throw .emptyPath }
        var (baud, flow) = (UInt32(1_000_000), true)
        let options = parts.count == 2 ? parts[1].split(separator: "&", omittingEmptySubsequences: false) : []
        for option in options {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch (pair[0], pair.count == 2 ? String(pair[1]) : "") {
            case ("baud", let value):
                guard let number = UInt32(value), 1200...20_000_000 ~= number else {
                    throw .optionValue(value, of: .baud)
                }
                baud = number
            case ("flow", "on"): flow = true
            case ("flow", "off"): flow = false
            case ("flow", let value): throw .optionValue(value, of: .flow)
            case (let name, _): throw .option(String(name))
            }
        }
        return .serial(path: String(path), baud: baud, flowControl: flow)
    }
}

extension AdapterSpecification.KernelAdapter {
    /// Parses `hci0`, `hci:AA:BB:CC:DD:EE:FF` or `hci:usb:1-1.4`; the index is below 0xffff, which means no
    /// adapter.
    init?(_ text: some StringProtocol) {
        guard text.hasPrefix("hci") else { return nil }
        let name = text.dropFirst(3)
        if name.first == ":", let bits = DeviceAddress.bits(name.dropFirst()) {
            self = .address(bits)
        } else if name.hasPrefix(":usb:"), UsbPort.isOne(Substring(name.dropFirst(5))) {
            self = .usb(String(name.dropFirst(5)))
        } else if let index = UInt16(name), "\(index)" == name, index != .max {
            self = .index(index)
        } else {
            return nil
        }
    }
}

extension StreamAddress {
    /// Parses `tcp:HOST:PORT`, with brackets around an IPv6 address, or `unix:PATH`. Port 0 is for listening,
    /// which then chooses a free port.
    public init(_ text: some StringProtocol) throws(AdapterSpecificationError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts[0], parts.count == 2 ? parts[1] : "") {
        case ("unix", let path): self = .unix(path: try AdapterSpecification.path(String(path)))
        case ("tcp", let place):
            guard let colon = place.lastIndex(of: ":") else {
                throw .missingPort(String(place))
            }
            let (host, port) = (place[..<colon], place[place.index(after: colon)...])
            guard let number = UInt16(port) else { throw .port(String(port)) }
            self = .tcp(host: try Self.host(host), port: number)
        default:
            throw .place(String(text))
        }
    }

    private static func host(_ text: some StringProtocol) throws(AdapterSpecificationError) -> String {
        guard !text.isEmpty else { throw .emptyHost }
        if text.hasPrefix("["), text.hasSuffix("]"), text.count > 2 {
            return String(text.dropFirst().dropLast())
        }
        guard !text.contains(":") else { throw .unbracketed(String(text)) }
        return String(text)
    }
}
