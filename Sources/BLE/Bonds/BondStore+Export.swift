import BLECore
import SMP

extension BondStore {
    /// What became of an import.
    public struct Import: Hashable, Sendable {
        /// Bonds that are now in the store.
        public var imported: [BondID] = []
        /// Bonds of which the store has a later pairing, which stays.
        public var older: [BondID] = []
        /// Addresses of this host whose identity was taken over.
        public var identities: [DeviceAddress] = []
        /// Addresses for which the store has another identity, which stays: its peers know that one.
        public var otherIdentities: [DeviceAddress] = []
    }

    /// Bonds, and the identities of this host that they are with, as one text: for another machine or a backup. It
    /// has all keys, so any reader of it can impersonate either side.
    public func export(_ records: [BondRecord]) -> [UInt8] {
        let locals = Set(records.map(\.id.local))
        let identities = state.withLock { Array($0.identities.values) }
            .filter { locals.contains($0.address) }
            .sorted { BondID($0.address, at: $0.address) < BondID($1.address, at: $1.address) }
        return identities.flatMap(\.text) + records.flatMap(\.text)
    }

    /// Takes over what `export` has written, all of it or, when it throws, nothing. Of two pairings with the same
    /// peer the later one stays.
    public func takeIn(_ export: [UInt8]) async throws(BLEError) -> Import {
        let (records, identities) = try Self.parts(of: export)
        var result = Import()
        for identity in identities {
            if try await self.identity(orNew: identity) == identity {
                result.identities.append(identity.address)
            } else {
                result.otherIdentities.append(identity.address)
            }
        }
        let refused = changing { state, change -> Int? in
            let new = Set(records.map(\.id)).subtracting(state.table.records.keys).count
            let total = state.table.records.count + new
            guard total <= Self.limit else { return total }
            for var record in records {
                let old = state.table[record.id]
                if let old, old.created > record.created {
                    result.older.append(record.id)
                    continue
                }
                if let old {
                    record.inherit(from: old)
                    if !old.isOfSamePairing(as: record.bond) { forgetDatabase(of: record.id, in: &state) }
                }
                state.counters[record.id] = nil
                state.table.put(record)
                note(.insert(record), of: record.id, in: &state)
                result.imported.append(record.id)
                change.added.append(record.id)
            }
            return nil
        }
        if let refused { throw .limit(.bonds, maximum: Self.limit, value: refused) }
        try await flush()
        return result
    }

    /// The content of a text; throws when any of it is malformed.
    private static func parts(
        of export: [UInt8]
    ) throws(BLEError) -> (records: [BondRecord], identities: [LocalIdentity]) {
        var reader = TextReader(export)
        var (records, identities): ([BondRecord], [LocalIdentity]) = ([], [])
        do throws(TextError) {
            while let section = try reader.next() {
                switch section.kind {
                case BondRecord.kind: records.append(try BondRecord(section))
                case LocalIdentity.kind: identities.append(try LocalIdentity(section))
                default: throw TextError(section.number, .kind(String(section.kind), expected: nil))
                }
            }
            guard !reader.hasMore else { throw TextError(reader.number + 1, .missingEnd) }
        } catch {
            throw .bonds(StateError(error, in: "import"))
        }
        return (records, identities)
    }
}
