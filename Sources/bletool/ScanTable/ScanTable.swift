import BLE
import BLECore

/// The devices that a scan has found, and how the user views them: sorted, filtered, one of them selected or open.
/// Keys and packets go in, lines come out (`lines(columns:lines:at:)`).
struct ScanTable {
    /// What rows are sorted by.
    enum Order: String, CaseIterable, Sendable {
        case strength = "RSSI"
        case name
        case address
        case rate
        case lastSeen = "last seen"
        case found
    }

    /// What is on the screen.
    enum View: Hashable, Sendable {
        case table
        /// One device; so many lines of it are above the screen.
        case device(scrolled: Int)
        case help
    }

    /// What a key asks of the caller.
    enum Request: Hashable, Sendable {
        case quit
        case connect(DeviceAddress)
    }

    /// The most devices that are remembered, as the library does.
    static let limit = 4096

    private var rows = RecencyTable<ScanRow.Key, ScanRow>(limit: Self.limit)
    private(set) var packets = 0
    /// Packets that came while the table stood still.
    private(set) var missed = 0
    private(set) var order = Order.strength
    private(set) var isReversed = false
    private(set) var filter = ""
    private(set) var isTyping = false
    /// When the table was made to stand still.
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

    /// Whether the table stands still.
    var isPaused: Bool { pausedAt != nil }

    /// How many devices are remembered.
    var count: Int { rows.count }

    /// The number of devices in words, as in `3 devices`.
    var devices: String { count == 1 ? "1 device" : "\(count) devices" }

    /// The selected device, shown or not.
    var selectedRow: ScanRow? { selection.flatMap { key in rows.newest(Self.limit).first { $0.key == key } } }

    /// The rows that are shown, in order.
    func shown(at now: Timestamp) -> [ScanRow] {
        let rows = rows.newest(Self.limit).filter { $0.matches(filter) }
        // What is compared is worked out once a row. Equal ones stay in the order of their discovery.
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

    /// The selected row, when it is shown.
    func selected(in shown: [ScanRow]) -> Int? {
        selection.flatMap { key in shown.firstIndex { $0.key == key } }
    }

    /// Does what a key says; `page` is how many rows the screen has.
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
        guard let row = selected(in: shown).map({ shown[$0] }) else {
            message = "no device is selected: the arrow keys select one"
            return nil
        }
        guard let address = row.event.address, row.event.isConnectable else {
            message = "\(row.addressText) takes no connections"
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

    private func scroll(_ key: TerminalKey, from line: Int, _ page: Int) -> Int {
        switch key {
        case .up, .scalar("k"): max(0, line - 1)
        case .down, .scalar("j"): min(line + 1, 10_000)
        case .pageUp: max(0, line - page)
        case .pageDown: min(line + page, 10_000)
        case .home, .scalar("g"): 0
        default: line
        }
    }
}

extension ScanTable.Order {
    /// The next in turn.
    fileprivate var next: Self {
        let all = Self.allCases
        let place = all.firstIndex(of: self) ?? 0
        return all[(place + 1) % all.count]
    }
}
