import AssignedNumbers
import BLE
import BLEAdvertising
import BLECore

/// The devices that a scan has found, and the user's view of them: sorted, filtered, with one of them
/// selected or open. It handles keys and packets, and returns the lines to show (`lines(columns:lines:at:)`).
struct ScanTable {
    /// The column that rows are sorted by.
    enum Order: String, CaseIterable, Sendable {
        case strength = "RSSI"
        case name
        case address
        case rate
        case lastSeen = "last seen"
        case found
    }

    /// The view that is shown.
    enum View: Hashable, Sendable {
        case table
        /// One device, with this number of its lines above the screen.
        case device(scrolled: Int)
        case help
    }

    /// The request of a key that the caller must handle.
    enum Request: Hashable, Sendable {
        case quit
        case connect(DeviceAddress)
    }

    /// The maximum number of devices that are kept, as in the library.
    static let limit = 4096

    private var rows = RecencyTable<ScanRow.Key, ScanRow>(limit: Self.limit)
    private(set) var packets = 0
    /// The number of packets that arrived while the table was paused.
    private(set) var missed = 0
    private(set) var order = Order.strength
    private(set) var isReversed = false
    private(set) var filter = ""
    private(set) var isTyping = false
    /// The time when the table was paused, or nil.
    private(set) var pausedAt: Timestamp?
    private(set) var view = View.table
    private(set) var selection: ScanRow.Key?
    /// The last message, shown until the next key.
    var message: String?

    /// Adds a packet to its device's row. While the table is paused, the packet is only counted.
    mutating func note(_ event: AdvertisementEvent) {
        packets += 1
        guard !isPaused else {
            missed += 1
            return
        }
        let key = ScanRow.Key(address: event.identity ?? event.address, set: event.set)
        let number = packets
        _ = rows.use(key, first: ScanRow(key, first: number, event)) { $0.note(event) }
    }

    var isPaused: Bool { pausedAt != nil }

    /// The number of remembered devices.
    var count: Int { rows.count }

    /// The number of devices in words, as in `3 devices`.
    var devices: String { count == 1 ? "1 device" : "\(count) devices" }

    /// The row of the selected device, shown or not.
    private var selectedRow: ScanRow? {
        selection.flatMap { key in rows.newest(Self.limit).first { $0.key == key } }
    }

    /// The rows that are shown, in order.
    func shown(at now: Timestamp) -> [ScanRow] {
        let rows = rows.newest(Self.limit).filter { $0.matches(filter) }
        // The compared value is computed once per row. Equal rows stay in the order of their discovery.
        func sorted<Value: Comparable>(by value: (ScanRow) -> Value) -> [ScanRow] {
            var pairs: [(row: ScanRow, value: Value)] = rows.map { (row: $0, value: value($0)) }
            pairs.sort { left, right in
                left.value == right.value ? left.row.first < right.row.first : left.value < right.value
            }
            return pairs.map(\.row)
        }
        let ordered =
            switch order {
            case .strength: sorted { -max($0.steadyStrength, -1000) }
            case .name: sorted { $0.name.isEmpty ? "\u{10ffff}" : $0.name.lowercased() }
            case .address: sorted { $0.event.address?.value ?? .max }
            case .rate: sorted { -($0.rate(at: now) ?? 0) }
            case .lastSeen: sorted { -$0.event.time.milliseconds }
            case .found: sorted(by: \.first)
            }
        return isReversed ? ordered.reversed() : ordered
    }

    /// Returns the index of the selected row, or nil if it is not shown.
    func selected(in shown: [ScanRow]) -> Int? {
        selection.flatMap { key in shown.firstIndex { $0.key == key } }
    }

    /// Handles a key. `page` is the number of rows on the screen.
    mutating func press(_ key: TerminalKey, page: Int, at now: Timestamp) -> Request? {
        message = nil
        if isTyping {
            type(key)
            return nil
        }
        switch (key, view) {
        case (.scalar("q"), .table): return .quit
        case (.scalar("q"), _), (.escape, .device), (.escape, .help), (.left, .device): view = .table
        case (.escape, .table): filter = ""
        case (.scalar("?"), _), (.scalar("h"), .table): view = .help
        case (.scalar("p"), _), (.scalar(" "), _):
            pausedAt = isPaused ? nil : now
            missed = 0
        case (.scalar("c"), .table), (.scalar("c"), .device): return connect(at: now)
        case (_, .help): view = .table
        case (_, .device(let scrolled)): view = .device(scrolled: scroll(key, from: scrolled, page))
        case (.scalar("s"), .table): order = order.next
        case (.scalar("r"), .table): isReversed.toggle()
        case (.scalar("/"), .table): isTyping = true
        case (.enter, .table), (.right, .table): open(at: now)
        default: move(key, page, at: now)
        }
        return nil
    }

    private mutating func type(_ key: TerminalKey) {
        switch key {
        case .scalar(let sign) where filter.unicodeScalars.count < 64: filter.unicodeScalars.append(sign)
        case .backspace: _ = filter.popLast()
        case .enter: isTyping = false
        case .escape:
            isTyping = false
            filter = ""
        default: break
        }
    }

    private mutating func open(at now: Timestamp) {
        let shown = shown(at: now)
        guard let row = selected(in: shown).map({ shown[$0] }) ?? shown.first else { return }
        selection = row.key
        view = .device(scrolled: 0)
    }

    private mutating func connect(at now: Timestamp) -> Request? {
        let shown = shown(at: now)
        guard let row = selected(in: shown).map({ shown[$0] }) ?? shown.first else {
            message = "there is no device yet"
            return nil
        }
        selection = row.key
        guard let address = row.connectable?.address else {
            message = "\(row.addressText) is not connectable"
            return nil
        }
        return .connect(address)
    }

    private mutating func move(_ key: TerminalKey, _ page: Int, at now: Timestamp) {
        let shown = shown(at: now)
        guard !shown.isEmpty else { return }
        let last = shown.count - 1
        let place = selected(in: shown)
        let next: Int? =
            switch key {
            case .up, .scalar("k"): place.map { $0 - 1 } ?? last
            case .down, .scalar("j"): place.map { $0 + 1 } ?? 0
            case .pageUp: (place ?? 0) - page
            case .pageDown: (place ?? 0) + page
            case .home, .scalar("g"): 0
            case .end, .scalar("G"): last
            default: nil
            }
        if let next { selection = shown[min(max(0, next), last)].key }
    }

    /// A line below all lines of a device.
    private static let farDown = 10_000

    private func scroll(_ key: TerminalKey, from line: Int, _ page: Int) -> Int {
        switch key {
        case .up, .scalar("k"): max(0, line - 1)
        case .down, .scalar("j"): min(line + 1, Self.farDown)
        case .pageUp: max(0, line - page)
        case .pageDown: min(line + page, Self.farDown)
        case .home, .scalar("g"): 0
        case .end, .scalar("G"): Self.farDown
        default: line
        }
    }
}

extension ScanTable.Order {
    /// The next order; the first after the last.
    fileprivate var next: Self {
        let all = Self.allCases
        let place = all.firstIndex(of: self) ?? 0
        return all[(place + 1) % all.count]
    }
}

extension ScanTable {
    /// The number of lines beside the rows of devices: title, headings and the line for messages and keys.
    static let frame = 3

    /// Returns the screen: at most `lines` lines of at most `columns` columns, without anything that a
    /// terminal would interpret.
    ///
    /// A device that is scrolled past its end is scrolled back to it.
    mutating func lines(columns: Int, lines: Int, at now: Timestamp) -> [ScreenLine] {
        // A paused table shows the times as they were then.
        let now = pausedAt ?? now
        // The last line is for messages and keys. If there is hardly any room, the devices are more
        // important.
        let hasFooter = lines > Self.frame
        let body = max(1, hasFooter ? lines - 1 : lines)
        var screen =
            switch view {
            case .table: table(columns, body - 2, at: now)
            case .device(let scrolled): device(columns, max(0, body - 1), scrolled, at: now)
            case .help: [title("bletool scan: keys")] + Self.help.map { ScreenLine(text: $0) }
            }
        screen = Array(screen.prefix(body))
        if hasFooter {
            screen += [ScreenLine](repeating: ScreenLine(text: ""), count: body - screen.count)
            screen.append(footer)
        }
        return screen.map { ScreenLine(text: $0.text.cut(toColumns: columns), look: $0.look) }
    }

    private func title(_ text: String) -> ScreenLine { ScreenLine(text: text, look: .title) }

    private func table(_ columns: Int, _ room: Int, at now: Timestamp) -> [ScreenLine] {
        let room = max(0, room)
        let shown = shown(at: now)
        let layout = ScanColumns(within: columns)
        let place = selected(in: shown)
        // The selected row is visible, in the middle if there are more rows than the screen has room for.
        let start = max(0, min((place ?? 0) - room / 2, shown.count - room))
        let rows = shown.dropFirst(start).prefix(room).map { row in
            let isSelected = row.key == selection
            return ScreenLine(
                text: (isSelected ? "> " : "  ") + layout.line(of: row, at: now),
                look: isSelected ? .selected : .plain)
        }
        return [title(summary(shown.count, rows.count)), ScreenLine(text: layout.heading, look: .heading)]
            + rows
    }

    private func summary(_ shown: Int, _ inSight: Int) -> String {
        var parts = [devices]
        if shown < count { parts.append("\(shown) pass the filter") }
        if inSight < shown { parts.append("\(inSight) visible") }
        if isPaused { parts.append("PAUSED, \(missed) packets since") }
        parts.append("by \(order.rawValue)\(isReversed ? ", reversed" : "")")
        if !filter.isEmpty, !isTyping { parts.append("filter \(filter.quoted)") }
        parts.append("\(packets) packets")
        return parts.joined(separator: " · ")
    }

    private var footer: ScreenLine {
        if isTyping { return ScreenLine(text: "/" + filter.printable + "▏") }
        if let message { return ScreenLine(text: message.printable, look: .problem) }
        return ScreenLine(
            text: view == .table
                ? "q quit  ↑↓ select  ⏎ open  c connect  s sort  / filter  p pause  ? help"
                : "q back  ↑↓ scroll  c connect  p pause", look: .dim)
    }

    private static let help = [
        "", "↑ ↓ j k          select a device, or scroll",
        "PgUp PgDn g G    move by a screen, to the first, to the last",
        "⏎ →              open the device: its fields and its last packets",
        "q Esc ←          back; q in the table ends the scan",
        "c                end the scan, connect to the selected device, open a shell",
        "s                sort by strength, name, address, rate, last seen, discovery",
        "r                reverse the order",
        "/                show only devices that contain this text; Esc shows all",
        "p Space          pause, and resume",
    ]
}

/// The columns of a table of devices for the width of a terminal. The least important columns are removed
/// first, and names, companies and services share the remaining room.
struct ScanColumns {
    enum Column: CaseIterable {
        case address, kind, name, strength, bars, rate, company, services, seen

        var heading: String {
            switch self {
            case .address: "ADDRESS"
            case .kind: "KIND"
            case .name: "NAME"
            case .strength: "RSSI"
            case .bars: ""
            case .rate: "RATE"
            case .company: "COMPANY"
            case .services: "SERVICES"
            case .seen: "SEEN"
            }
        }

        /// The minimum width of the column.
        var least: Int {
            switch self {
            case .address: 17
            case .kind: 6
            case .name: 10
            case .strength, .seen: 4
            case .bars, .rate: 6
            case .company: 9
            case .services: 8
            }
        }

        /// The column's share of the remaining room.
        var share: Int {
            switch self {
            case .name, .services: 2
            case .company: 3
            default: 0
            }
        }

        /// The maximum width of the column.
        var most: Int { self == .name ? 32 : share > 0 ? 200 : least }

        var isNumber: Bool { [.strength, .rate, .seen].contains(self) }
    }

    /// The columns and their widths.
    let all: [(column: Column, width: Int)]

    /// Creates the columns that fit into `room` columns of the terminal, of which the mark before each row
    /// takes two.
    init(within room: Int) {
        var columns = Column.allCases
        func width(_ columns: [Column]) -> Int { columns.reduce(1) { $0 + $1.least + 1 } }
        for least in [Column.kind, .rate, .bars, .services, .company, .seen, .address, .strength]
        where width(columns) > room {
            columns.removeAll { $0 == least }
        }
        let spare = max(0, room - width(columns))
        let shares = max(1, columns.reduce(0) { $0 + $1.share })
        var left = spare
        all = columns.map { column in
            let more = min(spare * column.share / shares, column.most - column.least)
            left -= more
            // A name without other columns gets all the room.
            return (column, columns == [.name] ? max(0, room - 2) : column.least + more)
        }
    }

    /// The line with the headings of the columns.
    var heading: String { "  " + line { $0.heading } }

    /// Returns the line of a row.
    func line(of row: ScanRow, at now: Timestamp) -> String {
        let hasAddress = all.contains { $0.column == .address }
        return line { column in
            switch column {
            case .address: row.addressText
            case .kind: row.event.address?.kind.rawValue ?? ""
            // Without the column of the address, a row without a name would not identify its device, so the
            // column of the name shows the address.
            case .name: row.name.isEmpty && !hasAddress ? row.addressText : row.name
            case .strength: row.event.rssi.map { "\($0)" } ?? "?"
            case .bars: Sparkline.text(row.strengths(column.least))
            case .rate: row.rate(at: now).map { $0.tenths + "/s" } ?? ""
            case .company: row.companyText
            case .services: row.services
            case .seen: row.age(at: now)
            }
        }
    }

    private func line(_ text: (Column) -> String) -> String {
        all.map { text($0.column).filling($0.width, fromRight: $0.column.isNumber) }.joined(separator: " ")
    }
}

extension ScanRow {
    /// The time since the last packet: `now`, `12s`, `3m`, `2h`.
    func age(at now: Timestamp) -> String {
        let seconds = max(0, now.milliseconds - event.time.milliseconds) / 1000
        switch seconds {
        case 0: return "now"
        case ..<100: return "\(seconds)s"
        case ..<6000: return "\(seconds / 60)m"
        default: return "\(seconds / 3600)h"
        }
    }
}

extension Double {
    /// The number with one decimal place.
    var tenths: String {
        let tenths = Int((self * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The view of one device: its properties, its fields, and its last packets.
extension ScanTable {
    mutating func device(_ columns: Int, _ room: Int, _ scrolled: Int, at now: Timestamp) -> [ScreenLine] {
        guard let row = selectedRow else {
            return [ScreenLine(text: "the device is no longer in the table", look: .title)]
        }
        let name = row.name.isEmpty ? "" : "  \(row.name)"
        let kind = row.event.address.map { " \($0.type), \($0.kind.rawValue)" } ?? ""
        let title = ScreenLine(
            text: row.addressText + kind + name + (isPaused ? " · PAUSED" : ""), look: .title)
        let lines = (row.facts(at: now) + row.fieldLines + row.packetLines(at: now)).flatMap { line in
            line.text.wrapped(toColumns: columns).map { ScreenLine(text: $0, look: line.look) }
        }
        let start = max(0, min(scrolled, lines.count - room))
        view = .device(scrolled: start)
        return [title] + lines.dropFirst(start).prefix(room)
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
        let type = [
            connectable != nil ? "connectable" : "not connectable", event.isScannable ? "scannable" : nil,
            event.isLegacy ? "legacy" : "extended on \(event.secondaryPHY ?? event.primaryPHY)",
            event.set.map { "set \($0)" }, event.txPower.map { "sent at \($0) dBm" },
            event.periodicInterval.map { "periodic \($0.text)" }, event.isTruncated ? "truncated" : nil,
        ]
        facts.append("type      " + type.compactMap { $0 }.joined(separator: ", "))
        if let identity = event.identity, identity != event.address { facts.append("identity  \(identity)") }
        return facts.map { ScreenLine(text: $0) }
    }

    /// The lines of the beacons as text, then of each AD structure with its octets.
    fileprivate var fieldLines: [ScreenLine] {
        let words = event.details.map { ScreenLine(text: "  " + $0) }
        let structures = event.fields.structures.map { structure in
            let octets = event.fields.bytes[structure.content].hex
            return ScreenLine(text: "  \("\(structure.type)".filling(34)) \(octets)", look: .dim)
        }
        let problem =
            event.problem.map { [ScreenLine(text: "  malformed: \($0)", look: .problem)] } ?? []
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

/// Signal strengths as a row of bars.
enum Sparkline {
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// Returns a bar for each strength: the lowest for -100 dBm and less, the highest for -30 dBm and more.
    static func text(_ strengths: some Sequence<Int8>) -> String {
        String(
            strengths.map { strength in
                bars[min(max(0, (Int(strength) + 100) * bars.count / 70), bars.count - 1)]
            })
    }
}
