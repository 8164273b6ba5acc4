/// A Bluetooth device address and its type (Core Specification 5.4, Vol 6, Part B, 1.3). The same 48 bits
/// with a different type identify a different device.
public struct DeviceAddress: Hashable, Sendable {
    /// The address type, which accompanies the address on air and in HCI.
    public enum AddressType: UInt8, Hashable, Sendable {
        /// The address was assigned by the IEEE.
        case `public` = 0
        /// The device generated the address; `Kind` states how.
        case random = 1
    }

    /// The kind of an address, which determines how long it identifies its owner.
    public enum Kind: String, Hashable, Sendable {
        /// A public address, which the IEEE assigns and which stays the same.
        case `public`
        /// A random static address, which stays the same at least until the device is powered off.
        case `static`
        /// A resolvable private address, which changes; only devices with the owner's identity resolving key
        /// can recognize it.
        case resolvable = "rpa"
        /// A non-resolvable private address, which changes; no device can recognize its owner.
        case nonResolvable = "nrpa"
        /// A random address with the reserved top bits 0b10.
        case reserved
    }

    /// The 48 bits; the octet that is printed first is the most significant.
    public let value: UInt64
    /// Whether the address is public or random.
    public let type: AddressType

    /// Creates an address from the low 48 bits of `value`.
    @inlinable
    public init(_ value: UInt64, type: AddressType) {
        self.value = value & 0xffff_ffff_ffff
        self.type = type
    }

    /// The kind of the address, determined by its type and its two top bits.
    @inlinable
    public var kind: Kind {
        guard type == .random else { return .public }
        return switch value &>> 46 {
        case 0b11: .static
        case 0b01: .resolvable
        case 0b00: .nonResolvable
        default: .reserved
        }
    }

    /// Whether the address can be the identity of a device: a public or static address whose bits are not all zeros
    /// or all ones (Core Specification 5.4, Vol 6, Part B, 1.3.2.1).
    package var isPossibleIdentity: Bool {
        let bits: UInt64
        switch kind {
        case .public: bits = 0xffff_ffff_ffff
        case .static: bits = 0x3fff_ffff_ffff
        case .resolvable, .nonResolvable, .reserved: return false
        }
        return value & bits != 0 && value & bits != bits
    }

    /// Creates a random static address from 46 random bits. They are changed if they are all ones or all
    /// zeros, which the specification does not allow.
    @inlinable
    public static func randomStatic(_ bits: UInt64) -> DeviceAddress {
        let random = bits & 0x3fff_ffff_ffff
        let allowed = random == 0 || random == 0x3fff_ffff_ffff ? 1 : random
        return DeviceAddress(0xc000_0000_0000 | allowed, type: .random)
    }
}

extension DeviceAddress: Comparable {
    /// Orders by the 48 bits, a public address before a random one.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool {
        (left.value, left.type.rawValue) < (right.value, right.type.rawValue)
    }
}

extension DeviceAddress: CustomStringConvertible {
    /// The address as `AA:BB:CC:DD:EE:FF`, without the type.
    public var text: String {
        (0..<6).map { UInt8(truncatingIfNeeded: value >> UInt64(40 - 8 * $0)).hex.uppercased() }
            .joined(separator: ":")
    }

    /// The address and its type, for example `AA:BB:CC:DD:EE:FF/random`.
    public var description: String { "\(text)/\(type)" }

    /// Creates the address from text: six octets separated by colons, with an optional `/public` or
    /// `/random`. Without a suffix the type is `defaultType`; the result is nil if that is nil too.
    public init?(_ text: some StringProtocol, defaultType: AddressType? = nil) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let value = Self.bits(first) else { return nil }
        let spelled: AddressType? =
            switch parts.dropFirst().first {
            case "public"?: .public
            case "random"?: .random
            case _?: nil
            case nil: defaultType
            }
        guard let spelled else { return nil }
        self.init(value, type: spelled)
    }

    /// Returns the 48 bits of the text `AA:BB:CC:DD:EE:FF`, in either case.
    package static func bits(_ text: some StringProtocol) -> UInt64? {
        let octets = text.split(separator: ":", omittingEmptySubsequences: false)
        guard octets.count == 6, octets.allSatisfy({ $0.utf8.count == 2 }),
            let bytes = [UInt8](hex: octets.joined())
        else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension DeviceAddress.AddressType: CustomStringConvertible {
    /// The name of the type: `public` or `random`.
    public var description: String { self == .public ? "public" : "random" }
}
