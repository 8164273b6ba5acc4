import BLECore

/// The state that a central manager restores at its next start. Each link request and each scan has a number.
struct CentralState: StateText, Equatable {
    /// The maximum number of devices that are remembered, including those without a link.
    static let limit = 1024

    /// The requests for links, by their numbers.
    var links: [UInt64: RestoredPeripheral] = [:]
    var scans: [UInt64: ScanOptions] = [:]
    /// The last time at which there was a link to each device.
    private(set) var known: [Peripheral.Identifier: Timestamp] = [:]
    private var last: UInt64 = 0

    /// Returns the number of the next request.
    mutating func number() -> UInt64 {
        last += 1
        return last
    }

    /// Notes a link to a device. Beyond the limit, forgets the device whose last link is the longest ago.
    mutating func note(_ id: Peripheral.Identifier, at time: Timestamp) {
        guard id.isLasting else { return }
        known[id] = time
        guard known.count > Self.limit, let oldest = latest.last else { return }
        known[oldest] = nil
    }

    /// The known devices, the latest first.
    var latest: [Peripheral.Identifier] {
        known.sorted { ($1.value, "\($1.key)") < ($0.value, "\($0.key)") }.map(\.key)
    }

    /// The devices of the requests; requests for the same device are merged.
    var peripherals: [RestoredPeripheral] {
        var merged: [RestoredPeripheral] = []
        for (_, next) in links.sorted(by: { $0.key < $1.key }) {
            if let index = merged.firstIndex(where: { $0.id == next.id }) {
                merged[index] = merged[index].merged(with: next)
            } else {
                merged.append(next)
            }
        }
        return merged
    }

    // MARK: Text

    static let kind = "known"

    var text: [UInt8] {
        var text: [UInt8] = []
        for (_, link) in links.sorted(by: { $0.key < $1.key }) { text += link.text }
        for (_, scan) in scans.sorted(by: { $0.key < $1.key }) { text += scan.text }
        guard !known.isEmpty else { return text }
        var writer = TextWriter(Self.kind)
        for id in latest.reversed() {
            if let time = known[id] { writer.line("device", "\(id.address)", "\(time)") }
        }
        return text + writer.octets
    }

    mutating func read(_ section: TextSection) throws(TextError) {
        switch section.kind {
        case RestoredPeripheral.kind: links[number()] = try RestoredPeripheral(section)
        case ScanOptions.kind: scans[number()] = try ScanOptions(section)
        case Substring(Self.kind):
            for line in section.lines {
                guard line.key == "device" else { throw line.isUnknown }
                let words = try line.values(2)
                let address = try line.value(of: words[0]) { DeviceAddress($0) }
                note(Peripheral.Identifier(address), at: try line.value(of: words[1]) { Timestamp($0) })
            }
        default: throw TextError(section.number, .kind(String(section.kind), expected: nil))
        }
    }
}
