import BLECore
import HCISocket

/// Why a text names no adapter, and what to write instead.
public struct AdapterSpecificationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line.
    public let reason: String
    /// An example, where one helps.
    public let hint: String?

    init(_ reason: String, hint: String? = nil) {
        self.reason = reason
        self.hint = hint
    }

    /// The reason.
    public var description: String { reason }
}

extension AdapterSpecification {
    /// Octets that a Unix socket's path may have: Linux has room for 108 with the zero at the end.
    private static let pathLimit = 107
    /// Octets that the name of a virtual adapter may have.
    private static let nameLimit = 200

    /// The adapter that `text` names.
    public init(_ text: some StringProtocol) throws(AdapterSpecificationError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? String(parts[1]) : nil
        switch (parts[0], rest) {
        case ("virtual", nil): self = .virtual(name: nil)
        case ("virtual", let name?): self = .virtual(name: try Self.virtualName(name))
        case ("unix", _?), ("tcp", _?):
            let address = try StreamAddress(text)
            if case .tcp(_, port: 0) = address {
                throw AdapterSpecificationError("the port must be 1 to 65535, not 0")
            }
            self = .stream(address)
        case ("serial", let port?): self = try Self.serial(port)
        case ("user", let name?):
            guard let adapter = KernelAdapter(name) else {
                throw AdapterSpecificationError(
                    "\(name.debugDescription) is not a kernel adapter", hint: "user:hci0, for example")
            }
            self = .userChannel(adapter)
        default:
            guard let adapter = KernelAdapter(text) else {
                throw AdapterSpecificationError(
                    "\(String(text).debugDescription) is not an adapter",
                    hint: """
                        adapters are hci0, hci:AA:BB:CC:DD:EE:FF, hci:usb:1-1.4, user:hci0, serial:PATH, tcp:HOST:PORT, \
                        unix:PATH, virtual or virtual:NAME
                        """)
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
            throw AdapterSpecificationError(
                "\(text.debugDescription) is no name for an adapter: 1 to \(nameLimit) octets without control characters"
            )
        }
        return text
    }

    fileprivate static func path(_ text: String) throws(AdapterSpecificationError) -> String {
        guard !text.isEmpty else { throw AdapterSpecificationError("the path is empty") }
        guard text.utf8.count <= pathLimit, !text.utf8.contains(0) else {
            throw AdapterSpecificationError(
                "\(text.debugDescription) is too long for a socket: \(pathLimit) octets at most")
        }
        return text
    }

    private static func serial(_ text: String) throws(AdapterSpecificationError) -> AdapterSpecification {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, !path.isEmpty else {
            throw AdapterSpecificationError("the path is empty", hint: "serial:/dev/ttyACM0, for example")
        }
        var (baud, flow) = (UInt32(1_000_000), true)
        let options = parts.count == 2 ? parts[1].split(separator: "&", omittingEmptySubsequences: false) : []
        for option in options {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch (pair[0], pair.count == 2 ? String(pair[1]) : "") {
            case ("baud", let value):
                guard let number = UInt32(value), 1200...20_000_000 ~= number else {
                    throw AdapterSpecificationError(
                        "baud must be 1200 to 20000000, not \(value.debugDescription)")
                }
                baud = number
            case ("flow", "on"): flow = true
            case ("flow", "off"): flow = false
            case ("flow", let value):
                throw AdapterSpecificationError("flow is on or off, not \(value.debugDescription)")
            case (let name, _):
                throw AdapterSpecificationError(
                    "there is no option \(String(name).debugDescription)",
                    hint: "baud=1000000 and flow=on or off")
            }
        }
        return .serial(path: String(path), baud: baud, flowControl: flow)
    }
}

extension AdapterSpecification.KernelAdapter {
    /// `hci0`, `hci:AA:BB:CC:DD:EE:FF` or `hci:usb:1-1.4`; the index is below 0xffff, which means none.
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
    /// `tcp:HOST:PORT`, the host in brackets where it is an IPv6 address, or `unix:PATH`. Port 0 is for
    /// those that listen and takes a free one.
    public init(_ text: some StringProtocol) throws(AdapterSpecificationError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts[0], parts.count == 2 ? parts[1] : "") {
        case ("unix", let path): self = .unix(path: try AdapterSpecification.path(String(path)))
        case ("tcp", let place):
            guard let colon = place.lastIndex(of: ":") else {
                throw AdapterSpecificationError(
                    "\(String(place).debugDescription) has no port",
                    hint: "tcp:HOST:PORT; IPv6 as tcp:[::1]:PORT")
            }
            let (host, port) = (place[..<colon], place[place.index(after: colon)...])
            guard let number = UInt16(port) else {
                throw AdapterSpecificationError(
                    "the port must be 1 to 65535, not \(String(port).debugDescription)")
            }
            self = .tcp(host: try Self.host(host), port: number)
        default:
            throw AdapterSpecificationError(
                "\(String(text).debugDescription) is no place for a socket",
                hint: "unix:PATH or tcp:HOST:PORT")
        }
    }

    private static func host(_ text: some StringProtocol) throws(AdapterSpecificationError) -> String {
        guard !text.isEmpty else {
            throw AdapterSpecificationError("the host is empty", hint: "tcp:127.0.0.1:PORT, perhaps")
        }
        if text.hasPrefix("["), text.hasSuffix("]"), text.count > 2 {
            return String(text.dropFirst().dropLast())
        }
        guard !text.contains(":") else {
            throw AdapterSpecificationError(
                "\(String(text).debugDescription) needs brackets", hint: "IPv6 as tcp:[::1]:PORT")
        }
        return String(text)
    }
}
