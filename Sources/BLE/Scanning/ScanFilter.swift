import BLEAdvertising
import BLECore

/// The filter of one consumer of a scan: the filters of its options, and how it treats repetitions.
struct ScanFilter: Sendable {
    private struct Report {
        var at: Instant
        var fingerprint: Int
    }

    let options: ScanOptions
    private let glob: Glob?
    private let addresses: Set<AddressFilter>
    /// The last report of each sender; nil if there was none yet.
    private var reported: RecencyTable<Sender, Report?>

    init(_ options: ScanOptions, remembering limit: Int = DeviceTable.limit) {
        reported = RecencyTable(limit: limit)
        self.options = options
        glob = options.name.map { Glob($0) }
        addresses = Set(options.addresses)
    }

    /// Returns whether the sighting is reported to the consumer.
    mutating func admits(_ sighting: DeviceTable.Sighting) -> Bool {
        matches(sighting.advertisement) && isWorthReporting(sighting)
    }

    /// Returns whether the advertisement matches every filter that is set.
    private func matches(_ advertisement: Advertisement) -> Bool {
        if options.extended == .off, !advertisement.report.type.contains(.legacy) { return false }
        if let minimum = options.minimumRSSI, advertisement.rssi.map({ $0 < minimum }) ?? true {
            return false
        }
        if !addresses.isEmpty {
            let known = [advertisement.address, advertisement.identity].compactMap { $0 }
            guard
                known.contains(where: {
                    addresses.contains(AddressFilter($0)) || addresses.contains(AddressFilter($0.value))
                })
            else { return false }
        }
        let fields = advertisement.fields
        guard offersOrSolicits(fields) else { return false }
        if !options.companies.isEmpty, !options.companies.contains(where: fields.hasData(of:)) {
            return false
        }
        guard let glob else { return true }
        return advertisement.name.map { glob.matches(name: $0) } ?? false
    }

    /// Whether a device lists a service that is searched for, or searches for one itself.
    private func offersOrSolicits(_ fields: AdvertisingData) -> Bool {
        if options.services.isEmpty, options.solicitedServices.isEmpty { return true }
        if options.services.contains(where: fields.offers) || overflows(fields) { return true }
        guard !options.solicitedServices.isEmpty else { return false }
        return fields.solicitedServiceUUIDs.contains(where: options.solicitedServices.contains)
    }

    /// Whether Apple's overflow area has the bit of a service that is searched for.
    private func overflows(_ fields: AdvertisingData) -> Bool {
        guard !options.overflowServices.isEmpty else { return false }
        return fields.manufacturerData.contains { data in
            guard let area = AppleOverflowArea(data) else { return false }
            return area.services(in: options.overflowServices).contains(where: options.services.contains)
        }
    }

    private mutating func isWorthReporting(_ sighting: DeviceTable.Sighting) -> Bool {
        if options.repeats == .all { return true }
        let now = sighting.advertisement.received
        return reported.use(sighting.sender, first: nil) { last in
            let isNews: Bool =
                switch (options.repeats, last) {
                case (.all, _), (_, nil): true
                case (.once, _): false
                case (.changes, let last?): last.fingerprint != sighting.fingerprint
                case (.every(let pause), let last?): now >= last.at + pause
                }
            if isNews { last = Report(at: now, fingerprint: sighting.fingerprint) }
            return isNews
        }.result
    }
}

/// A pattern of `*` (any text) and `?` (any character), compared without regard to case.
package struct Glob: Hashable, Sendable {
    private let pattern: [Character]

    /// Creates a pattern, which ignores case.
    package init(_ text: some StringProtocol) { pattern = Array(text.lowercased()) }

    /// Returns whether the name of a device matches: as it is, or up to its first NUL and without the spaces at its
    /// end, with which some devices fill a field of fixed length.
    package func matches(name: String) -> Bool {
        if matches(name) { return true }
        var visible = name.prefix { $0 != "\0" }
        while visible.last == " " { visible.removeLast() }
        return matches(visible)
    }

    /// Returns whether all of `text` matches. The time is proportional to the length of the pattern times
    /// that of the text, whatever they contain.
    package func matches(_ text: some StringProtocol) -> Bool {
        let text = Array(text.lowercased())
        var (at, position) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while position < text.count {
            if at < pattern.count, pattern[at] == "*" {
                star = (at, position)
                at += 1
            } else if at < pattern.count, pattern[at] == "?" || pattern[at] == text[position] {
                at += 1
                position += 1
            } else if let (starred, taken) = star {
                // The star takes one character more.
                star = (starred, taken + 1)
                at = starred + 1
                position = taken + 1
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == "*" }
    }
}
