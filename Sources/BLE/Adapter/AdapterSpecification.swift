import BLECore
import HCISocket

/// Which radio to use, and who runs L2CAP and security on it. The text form is what `--adapter` takes.
public enum AdapterSpecification: Hashable, Sendable {
    /// `hci0` or `hci:AA:BB:CC:DD:EE:FF`: a kernel adapter. The kernel runs L2CAP and security.
    case kernel(KernelAdapter)
    /// `user:hci0`: a kernel adapter through the user channel. Ours alone.
    case userChannel(KernelAdapter)
    /// `serial:/dev/ttyACM0?baud=1000000&flow=on`: H4 on a UART, ours alone. H4 asks for RTS/CTS (Core
    /// Specification 5.4, Vol 4, Part A, 4.4), so flow control is on unless the text says `off`.
    case serial(path: String, baud: UInt32, flowControl: Bool)
    /// `tcp:HOST:PORT` or `unix:PATH`: a controller that speaks H4 there. Ours alone.
    case stream(StreamAddress)
    /// `virtual` or `virtual:NAME`: a simulated controller on the air that all processes of the user share.
    /// Without a name it is a new one each time; with it, its address stays.
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
