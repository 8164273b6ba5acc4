import BLECore

extension Management {
    /// A key that encrypts links with a device, as the kernel stores it. In key values, the most significant
    /// octet is first.
    package struct LongTermKey: Hashable, Sendable {
        /// How the key was generated.
        package struct Kind: RawRepresentable, Hashable, Sendable {
            package let rawValue: UInt8
            package init(rawValue: UInt8) { self.rawValue = rawValue }

            /// LE legacy pairing, Just Works.
            package static let unauthenticated = Kind(rawValue: 0)
            /// LE legacy pairing with a passkey.
            package static let authenticated = Kind(rawValue: 1)
            /// LE Secure Connections, Just Works.
            package static let unauthenticatedP256 = Kind(rawValue: 2)
            /// LE Secure Connections, authenticated by the user or by out-of-band data.
            package static let authenticatedP256 = Kind(rawValue: 3)
            /// LE Secure Connections with the debug key, which is publicly known.
            package static let debugP256 = Kind(rawValue: 4)
        }

        /// The identity address of the peer.
        package var peer: DeviceAddress
        /// How the key was generated.
        package var kind: Kind
        /// Whether this host uses the key as central. LE Secure Connections keys serve both roles and have
        /// false.
        package var isForCentral: Bool
        /// The size of the key in octets, 7 to 16.
        package var size: UInt8
        /// The encrypted diversifier, which identifies an LE legacy pairing key together with `random`.
        package var ediv: UInt16
        /// The random number, which identifies an LE legacy pairing key together with `ediv`.
        package var random: UInt64
        package var value: UInt128

        package init(
            peer: DeviceAddress, kind: Kind, isForCentral: Bool = false, size: UInt8 = 16, ediv: UInt16 = 0,
            random: UInt64 = 0, value: UInt128
        ) {
            self.peer = peer
            self.kind = kind
            self.isForCentral = isForCentral
            self.size = size
            self.ediv = ediv
            self.random = random
            self.value = value
        }
    }

    /// The key from which a device's resolvable private addresses are generated.
    package struct IdentityKey: Hashable, Sendable {
        /// The identity address of the device.
        package var peer: DeviceAddress
        package var value: UInt128

        package init(peer: DeviceAddress, value: UInt128) {
            self.peer = peer
            self.value = value
        }
    }

    /// A key for signing writes.
    package struct SigningKey: Hashable, Sendable {
        /// The identity address of the peer.
        package var peer: DeviceAddress
        /// Whether this host signs with the key; otherwise the peer does.
        package var isLocal: Bool
        /// Whether the pairing that generated the key was authenticated.
        package var isAuthenticated: Bool
        package var value: UInt128

        package init(peer: DeviceAddress, isLocal: Bool, isAuthenticated: Bool, value: UInt128) {
            self.peer = peer
            self.isLocal = isLocal
            self.isAuthenticated = isAuthenticated
            self.value = value
        }
    }
}

extension Management.LongTermKey: PacketCodable {
    package static var packetName: String { "long term key of the kernel" }
    static let encodedCount = 36
    /// The maximum number of keys in one Load Long Term Keys, because the parameters have a 16-bit length.
    package static let maximumCount = (Int(UInt16.max) - 2) / encodedCount

    /// Returns the maximum number of keys in one Load Long Term Keys of at most that many octets.
    package static func maximumCount(within octets: Int) -> Int {
        min(max(octets - 8, 0) / encodedCount, maximumCount)
    }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        peer = try reader.lowEnergyPeer()
        kind = Kind(rawValue: try reader.u8("key type"))
        isForCentral = try reader.u8("role") != 0
        size = try reader.u8("size")
        ediv = try reader.u16("EDIV")
        random = try reader.u64("Rand")
        value = try reader.u128("value")
    }

    package var encodedCount: Int { Self.encodedCount }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.peer(peer)
        output.u8(kind.rawValue)
        output.u8(isForCentral ? 1 : 0)
        output.u8(size)
        output.u16(ediv)
        output.u64(random)
        output.u128(value)
    }
}

extension Management.IdentityKey: PacketCodable {
    package static var packetName: String { "identity key of the kernel" }
    static let encodedCount = 23
    /// The maximum number of keys in one Load Identity Resolving Keys.
    package static let maximumCount = (Int(UInt16.max) - 2) / encodedCount

    /// Returns the maximum number of keys in one Load Identity Resolving Keys of at most that many octets.
    package static func maximumCount(within octets: Int) -> Int {
        min(max(octets - 8, 0) / encodedCount, maximumCount)
    }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        peer = try reader.lowEnergyPeer()
        value = try reader.u128("value")
    }

    package var encodedCount: Int { Self.encodedCount }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.peer(peer)
        output.u128(value)
    }
}

extension Management.SigningKey: PacketDecodable {
    package static var packetName: String { "signing key of the kernel" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        peer = try reader.lowEnergyPeer()
        let type = try reader.u8("key type")
        guard type <= 3 else { throw reader.invalid("key type", value: type, width: 1) }
        isLocal = type & 1 == 0
        isAuthenticated = type & 2 != 0
        value = try reader.u128("value")
    }
}
