import BLECore

/// What one consumer of a scan wants to hear: the filters of its options, and its repetitions. The memory
/// of devices is bounded like the device table's.
struct ScanFilter {
    private struct Seen {
        var told: Instant
        var fields: AdvertisingData
    }

    let options: ScanOptions
    private let glob: Glob?
    private var seen: [DeviceAddress: Seen] = [:]

    private static let limit = 4096

    init(_ options: ScanOptions) {
        self.options = options
        glob = options.name.map { Glob($0) }
    }

    /// Whether the consumer is to be told.
    mutating func admits(_ advertisement: Advertisement) -> Bool {
        matches(advertisement) && isWorthTelling(advertisement)
    }

    private func matches(_ advertisement: Advertisement) -> Bool {
        if let minimum = options.minimumRSSI, advertisement.rssi.map({ $0 < minimum }) ?? true {
            return false
        }
        if !options.addresses.isEmpty {
            guard let address = advertisement.address,
                options.addresses.contains(where: { $0.matches(address) })
            else { return false }
        }
        if let glob, !(advertisement.name.map { glob.matches($0) } ?? false) { return false }
        guard !options.services.isEmpty else { return true }
        return options.services.contains { advertisement.fields.serviceUUIDs.contains($0) }
    }

    private mutating func isWorthTelling(_ advertisement: Advertisement) -> Bool {
        guard options.repeats != .all, let address = advertisement.address else { return true }
        defer {
            if seen.count > Self.limit, let oldest = seen.min(by: { $0.value.told < $1.value.told }) {
                seen.removeValue(forKey: oldest.key)
            }
        }
        let last = seen[address]
        let news: Bool =
            switch options.repeats {
            case .all: true
            case .once: last == nil
            case .changes: last?.fields != advertisement.fields
            case .every(let pause): last.map { advertisement.received >= $0.told + pause } ?? true
            }
        if news { seen[address] = Seen(told: advertisement.received, fields: advertisement.fields) }
        return news
    }
}
