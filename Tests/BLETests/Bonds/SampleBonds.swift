import ATT
import BLE
import BLECore
import GATTClient
import GATTServer
import SMP
import Testing

/// Sample bonds, and data that are stored with them.
enum SampleBonds {
    static let local = DeviceAddress(0x001b_dc07_3188, type: .public)
    static let peer = DeviceAddress(0xc011_2233_4455, type: .random)
    static let id = BondID(peer, at: local)
    /// The time of the stores' clock, which does not advance.
    static let noon = Timestamp(milliseconds: 1_795_262_400_000)

    /// Returns a bond with a key of each kind.
    static func bond(with peer: DeviceAddress = peer, key: UInt128 = 1) -> Bond {
        var bond = Bond(
            with: peer, as: local, PairingStrength(isAuthenticated: true, isSecureConnections: false))
        bond.centralKey = LongTermKey(key << 64 | 0xc, ediv: 0x1234, random: 0x0102_0304_0506_0708)
        bond.peripheralKey = LongTermKey(key << 64 | 0xf, ediv: UInt16(truncatingIfNeeded: key), random: 99)
        bond.peerIdentityKey = key << 64 | 0x1
        bond.peerSigningKey = key << 64 | 0x2
        bond.localSigningKey = key << 64 | 0x3
        return bond
    }

    /// Returns bonds with `count` peers, each with its own keys.
    static func many(_ count: Int) -> [Bond] {
        (1...count).map { number in
            bond(with: .randomStatic(UInt64(number)), key: UInt128(number))
        }
    }

    /// A database with each kind of attribute.
    static let database = RemoteDatabase(
        services: [
            RemoteService(
                uuid: 0x1809, handle: 0x0010, endHandle: 0x001f,
                includes: [RemoteInclude(handle: 0x0011, uuid: 0x180f, serviceHandle: 0x30, endHandle: 0x35)],
                characteristics: [
                    RemoteCharacteristic(
                        uuid: 0x2a1c, handle: 0x0012, valueHandle: 0x0013, endHandle: 0x0015,
                        properties: [.read, .indicate],
                        descriptors: [RemoteDescriptor(uuid: 0x2902, handle: 0x0014)])
                ]),
            RemoteService(
                uuid: 0x1234_5678_9abc_def0_1234_5678_9abc_def0, handle: 0x0030, endHandle: 0xffff,
                isPrimary: false),
        ], hash: [UInt8](0..<16))

    /// A client record with a value in each field.
    static var client: GATTClientRecord {
        var client = GATTClientRecord()
        client.configurations = [0x0013: .indicate, 0x0020: [.notify, .indicate]]
        client.features = [.robustCaching, .multipleNotifications]
        client.databaseHash = [0xab, 0xcd]
        client.isChangeAware = false
        client.unreportedChange = AttributeRange(0x0010, 0xffff)
        client.signCounter = 7
        return client
    }
}

extension BondStore {
    /// Returns the random static address of an adapter, a new one if it has none.
    func staticAddress(of adapter: String) async throws(BLEError) -> DeviceAddress {
        try await staticAddress(of: adapter, orNew: .randomStatic(.random(in: .min ... .max)))
    }
}
