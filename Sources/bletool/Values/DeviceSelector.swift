import BLECore

/// DEVICE on a command line: the peer to use.
enum DeviceSelector: Hashable, Sendable {
    /// `AA:BB:CC:DD:EE:FF/random`: exactly that device.
    case address(DeviceAddress)
    /// `AA:BB:CC:DD:EE:FF`: the device with these 48 bits, whose type is found in bonds or by a scan.
    case untyped(UInt64)
    /// `name:GLOB`: the first device with a matching name that a scan finds.
    case name(String)

    /// Parses an address, with or without its type, or `name:GLOB`.
    init(text: some StringProtocol) throws(BadInput) {
        if text.hasPrefix("name:") {
            let pattern = text.dropFirst(5)
            guard !pattern.isEmpty else {
                throw BadInput("the name is empty", hint: "name:* is the first device that has a name")
            }
            self = .name(String(pattern))
        } else if let address = DeviceAddress(text) {
            self = .address(address)
        } else if let bits = DeviceAddress.bits(text) {
            self = .untyped(bits)
        } else {
            throw BadInput(
                "\(text.quoted) is not a device",
                hint: "a device is AA:BB:CC:DD:EE:FF, optionally with /public or /random, or name:GLOB")
        }
    }
}

extension DeviceSelector: CustomStringConvertible {
    /// The device in the form that `init(text:)` reads.
    var description: String {
        switch self {
        case .address(let address): "\(address)"
        case .untyped(let bits): DeviceAddress(bits, type: .public).text
        case .name(let pattern): "name:\(pattern)"
        }
    }
}
