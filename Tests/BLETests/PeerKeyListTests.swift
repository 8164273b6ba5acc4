import BLECore
import SMP
import Testing

@testable import BLE

/// The peers whose private addresses a controller is to resolve.
struct PeerKeyListTests {
    private static func record(_ number: UInt64, key: UInt128?, used: Int64) -> BondRecord {
        var bond = SampleBonds.bond(with: DeviceAddress(0xc000_0000_0000 | number, type: .random))
        bond.peerIdentityKey = key
        return BondRecord(bond, created: Timestamp(milliseconds: used))
    }

    @Test func mostRecentlyUsedPeersFillList() {
        var list = PeerKeyList()
        list.wasReset(capacity: 2)
        let records = [
            Self.record(1, key: 11, used: 100), Self.record(2, key: 12, used: 300),
            Self.record(3, key: 13, used: 200), Self.record(4, key: 0, used: 400),
            Self.record(5, key: nil, used: 500),
        ]
        list.setPeers(records, local: 7)
        let wanted = list.wanted
        #expect(
            wanted == [
                records[1].id.peer: .init(peer: 12, local: 7), records[2].id.peer: .init(peer: 13, local: 7),
            ])
        #expect(!list.contains(records[1].id.peer))
        list.begin()
        #expect(list.contents == nil)
        #expect(!list.contains(records[1].id.peer))
        list.settle(wanted)
        #expect(list.contains(records[1].id.peer))
        #expect(!list.contains(records[0].id.peer))
        list.shrink(to: 1)
        #expect(list.wanted.keys.sorted { $0.value < $1.value } == [records[1].id.peer])
        list.giveUp()
        #expect(list.wanted.isEmpty)
        #expect(!list.contains(records[1].id.peer))
    }

    /// Peers without an identity key may send to a private address of this host.
    @Test func localPrivacyAddsPeersWithoutIdentityKey() {
        var list = PeerKeyList()
        list.wasReset(capacity: 2)
        let records = [
            Self.record(1, key: nil, used: 300), Self.record(2, key: 12, used: 100),
            Self.record(3, key: 0, used: 200),
        ]
        list.setPeers(records, local: 7)
        let all = list.wanted
        #expect(
            all == [
                records[1].id.peer: .init(peer: 12, local: 7), records[0].id.peer: .init(peer: 0, local: 7),
            ])
        list.settle(all)
        #expect(list.contains(records[1].id.peer) && !list.contains(records[0].id.peer))
        list.setPeers(records, local: 0)
        #expect(list.wanted == [records[1].id.peer: .init(peer: 12, local: 0)])
    }

    @Test func duplicateKeyIsListedOnce() {
        var list = PeerKeyList()
        list.wasReset(capacity: 4)
        let records = [Self.record(1, key: 11, used: 100), Self.record(2, key: 11, used: 200)]
        list.setPeers(records, local: 0)
        #expect(list.wanted == [records[1].id.peer: .init(peer: 11, local: 0)])
    }
}
