import BLECore
import HCI
import HCISocket

/// The state of advertisements.
struct AdvertisingState {
    /// The claims that keep other processes from using this process's sets, on kernel adapters.
    private var claims: [AdvertisingHandle: any Sendable] = [:]
    /// The records of the advertisements that have not ended.
    private var records: [AdvertisingID: AdvertisingRecord] = [:]

    /// Whether an advertisement has begun and not ended.
    var isActive: Bool { !records.isEmpty }

    /// Creates the record of an advertisement, which is kept until the advertisement ends.
    mutating func begin(_ id: AdvertisingID) -> AdvertisingRecord {
        let record = AdvertisingRecord(id)
        records[id] = record
        return record
    }

    /// Records the transmit power of an advertisement, in dBm.
    func notePower(_ power: Int8?, of id: AdvertisingID) { records[id]?.power = power }

    /// Records how an advertisement ended.
    mutating func finish(_ id: AdvertisingID, _ result: Result<AdvertisingEnd, BLEError>) {
        records.removeValue(forKey: id)?.end = result
    }
}

// MARK: - Ownership of sets

extension AdvertisingState {
    /// Returns whether this process has a claim on a set.
    func hasClaim(on set: AdvertisingHandle) -> Bool { claims[set] != nil }

    /// Stores the claim on a set, which keeps other processes from using the set until it is given back.
    mutating func take(_ claim: any Sendable, on set: AdvertisingHandle) { claims[set] = claim }

    /// Gives up the claims on sets that are no longer used.
    mutating func giveBackSets(but used: some Collection<AdvertisingHandle>) {
        let unused = claims.keys.filter { !used.contains($0) }.sorted { $0.rawValue < $1.rawValue }
        for set in unused { claims[set] = nil }
    }
}
