import BLECore
import GATTServer
import SMP

/// All data that are kept about a bonded peer between its links, except its database.
public struct BondRecord: Hashable, Sendable {
    /// The keys, and the security of the pairing that made them. A new pairing makes a new record.
    public let bond: Bond
    /// The time at which the devices paired.
    public let created: Timestamp
    /// The time at which the peer last had a link.
    public var lastUsed: Timestamp
    /// The name that the peer reported.
    public var name: String?
    /// The data that this host's server keeps about the peer as a client: subscriptions, features, the
    /// counter of signed writes.
    package var client = GATTClientRecord()
    /// The first sign counter that has never been reserved: neither it nor a greater one has been used in a
    /// Signed Write Command of this host to the peer (Core Specification 5.4, Vol 3, Part H, 2.4.5).
    /// `BondStore.takeSignCounter` reserves counters in advance, so that none is used twice even if the process
    /// is killed.
    package internal(set) var signCounter: UInt32 = 0

    /// Creates the record of a bond that was made at `created` and has not been used since.
    package init(_ bond: Bond, name: String? = nil, created: Timestamp) {
        self.bond = bond
        self.name = name
        self.created = created
        lastUsed = created
    }

    /// The identifier of the bond, which consists of the addresses of both devices.
    public var id: BondID { bond.id }

    /// Returns whether both bonds result from one pairing: their links are encrypted with the same keys. The
    /// kernel reports the keys of a pairing one by one.
    func isOfSamePairing(as bond: Bond) -> Bool {
        let mine = self.bond
        return (mine.centralKey, mine.peripheralKey) == (bond.centralKey, bond.peripheralKey)
            && (mine.centralKey ?? mine.peripheralKey) != nil
    }

    /// Returns the record with other keys of the same pairing.
    func with(_ bond: Bond, name: String?) -> BondRecord {
        var record = BondRecord(bond, name: name ?? self.name, created: created)
        record.lastUsed = lastUsed
        record.client = client
        record.signCounter = bond.localSigningKey == self.bond.localSigningKey ? signCounter : 0
        return record
    }

    /// Takes over the data that outlast the pairing which this one replaces: the name, and the counters of
    /// signing keys that are still the same, because those must not start again.
    mutating func inherit(from old: BondRecord) {
        name = name ?? old.name
        if let key = bond.localSigningKey, key == old.bond.localSigningKey {
            signCounter = max(signCounter, old.signCounter)
        }
        if let key = bond.peerSigningKey, key == old.bond.peerSigningKey {
            client.signCounter = max(client.signCounter, old.client.signCounter)
        }
    }

    /// The record to write in place of a damaged file, or of an export. Skips counters, because the next ones
    /// may have been used.
    var afterDamage: BondRecord {
        var record = self
        record.signCounter += min(1 << 16, .max - signCounter)
        return record
    }

    /// Reserves counters that have never been used.
    mutating func reserveCounters() -> Range<UInt32> {
        let first = signCounter
        // Never wraps: the last counter is never used.
        signCounter += min(BondStore.counterBlock, .max - first)
        return first..<signCounter
    }

    /// Whether the text of the record can be read again.
    var isReadable: Bool {
        do throws(TextError) {
            return try BondRecord(TextReader.only(BondRecord.kind, in: text)).id == id
        } catch {
            return false
        }
    }
}
