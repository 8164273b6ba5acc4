import AssignedNumbers
import BLEAdvertising
import BLECore

/// One device on the screen: what it is, what it says, field by field, and its last packets.
extension ScanTable {
    func device(_ columns: Int, _ room: Int, _ scrolled: Int, at now: Timestamp) -> [ScreenLine] {
        guard let row = selectedRow else {
            return [ScreenLine(text: "the device is not remembered any more", look: .title)]
        }
        let name = row.name.isEmpty ? "" : "  \(row.name)"
        let kind = row.event.address.map { " \($0.type), \($0.kind.rawValue)" } ?? ""
        let title = ScreenLine(
            text: row.addressText + kind + name + (isPaused ? " · PAUSED" : ""), look: .title)
        let lines = (row.facts(at: now) + row.fieldLines + row.packetLines(at: now)).flatMap { line in
            line.text.wrapped(toColumns: columns).map { ScreenLine(text: $0, look: line.look) }
        }
        let start = max(0, min(scrolled, lines.count - room))
        return [title] + lines.dropFirst(start).prefix(max(0, room))
    }
}

extension ScanRow {
    fileprivate func facts(at now: Timestamp) -> [ScreenLine] {
        var facts: [String] = []
        let strengths = strengths(Self.history)
        if let last = strengths.last, let least = strengths.min(), let most = strengths.max() {
            let mean = strengths.reduce(0) { $0 + Int($1) } / strengths.count
            facts.append(
                "RSSI      \(last) dBm, \(least) to \(most), mean \(mean)  \(Sparkline.text(strengths.suffix(32)))"
            )
        }
        let rate = rate(at: now).map { ", \($0.tenths)/s" } ?? ""
        facts.append(
            "packets   \(count)\(rate), last \(age(at: now) == "now" ? "now" : age(at: now) + " ago")")
        let takes = [
            event.isConnectable ? "connectable" : "not connectable", event.isScannable ? "scannable" : nil,
            event.isLegacy ? "legacy" : "extended on \(event.secondaryPHY ?? event.primaryPHY)",
            event.set.map { "set \($0)" }, event.txPower.map { "sent at \($0) dBm" },
            event.periodicInterval.map { "periodic \($0.text)" }, event.isTruncated ? "truncated" : nil,
        ]
        facts.append("takes     " + takes.compactMap { $0 }.joined(separator: ", "))
        if let identity = event.identity, identity != event.address { facts.append("identity  \(identity)") }
        return facts.map { ScreenLine(text: $0) }
    }

    /// Beacons in words, then each AD structure with its octets.
    fileprivate var fieldLines: [ScreenLine] {
        let words = event.details.map { ScreenLine(text: "  " + $0) }
        let structures = event.fields.structures.map { structure in
            let octets = event.fields.bytes[structure.content].hex
            return ScreenLine(text: "  \("\(structure.type)".filling(34)) \(octets)", look: .dim)
        }
        let problem =
            event.fields.problem.map { [ScreenLine(text: "  malformed: \($0)", look: .problem)] } ?? []
        return [ScreenLine(text: ""), ScreenLine(text: "FIELDS", look: .heading)] + words + structures
            + problem
    }

    fileprivate func packetLines(at now: Timestamp) -> [ScreenLine] {
        let lines = packets.reversed().map { packet in
            let age = Double(max(0, now.milliseconds - packet.time.milliseconds)) / 1000
            let rssi = packet.rssi.map { "\($0)" } ?? "?"
            return ScreenLine(
                text: "\(age.tenths.filling(8, fromRight: true))s ago \(rssi.filling(5, fromRight: true))  "
                    + "\(packet.isScanResponse ? "response" : "data    ")  \(packet.payload.hex)")
        }
        return [ScreenLine(text: ""), ScreenLine(text: "PACKETS", look: .heading)] + lines
    }
}
