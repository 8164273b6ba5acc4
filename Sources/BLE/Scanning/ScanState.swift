import BLECore

/// The scans of this process, and what the radio does for them.
struct ScanState {
    /// What the radio does.
    enum Radio: Hashable {
        case off
        /// It scans as we told it.
        case on(ScanParameters)
        /// It was told to scan, or to end that, and has not answered.
        case doubtful(ScanParameters)
        /// Somebody else's scan runs, which we listen to and must not end.
        case joined
    }

    /// The numbers of searches among those of consumers.
    static let trainSearchID: UInt64 = 0, peerSearchID = UInt64.max

    struct Consumer {
        var filter: ScanFilter
        let buffer: StreamBuffer<Advertisement>
    }

    var consumers: [UInt64: Consumer] = [:]
    /// What the search for a periodic train needs, which hears nothing by itself.
    var demand: ScanOptions? {
        didSet { accepted.remove(Self.trainSearchID) }
    }
    /// What the search for peers needs whose addresses only the host knows.
    var peerSearch: ScanOptions? {
        didSet { if peerSearch == nil { accepted.remove(Self.peerSearchID) } }
    }
    /// Those with which the controller has begun to scan, of `wishes` by number.
    var accepted: Set<UInt64> = []
    var devices = DeviceTable()
    /// Extended advertising that is told in several reports.
    var chains = ReportAssembler()
    var radio = Radio.off
    var isChanging = false
    var nextID: UInt64 = 0
    /// What others make a shared adapter scan.
    var foreign = ForeignScan()
    /// Whether the next start ends their scan first.
    var takesOver = false
    /// Whether others switched the radio while we did.
    var looksAgain = false
    /// Whether something is heard.
    var watchdog = ScanWatchdog()
    /// When the radio was taken back from others, to bound that.
    var restarts: [Instant] = []

    /// What everybody wants, by number.
    var wishes: [(id: UInt64, options: ScanOptions)] {
        var wishes = consumers.map { (id: $0.key, options: $0.value.filter.options) }
        if let demand { wishes.append((id: Self.trainSearchID, options: demand)) }
        if let peerSearch { wishes.append((id: Self.peerSearchID, options: peerSearch)) }
        return wishes
    }
    /// Whether anybody wants the radio to scan.
    var isWanted: Bool { !consumers.isEmpty || demand != nil || peerSearch != nil }

    /// The controller may scan or not, as it was told last.
    mutating func doubt() {
        switch radio {
        case .on(let parameters): radio = .doubtful(parameters)
        case .joined: radio = .off
        case .off, .doubtful: break
        }
    }

    /// Who may have asked for what the controller refuses: those who want more than a preset on LE 1M, those who
    /// came since it scanned last; else all.
    func suspects(among ids: Set<UInt64>) -> Set<UInt64> {
        let all = wishes.filter { ids.contains($0.id) }
        let new = all.filter { !accepted.contains($0.id) }
        let choices = [new.filter(\.options.isSpecial), new, all.filter(\.options.isSpecial), all]
        return Set(choices.first { !$0.isEmpty }?.map(\.id) ?? [])
    }

    mutating func finishAll(_ end: Result<Void, BLEError>) {
        let all = consumers.values
        consumers.removeAll()
        demand = nil
        peerSearch = nil
        for consumer in all { consumer.buffer.finish(end) }
    }
}

extension ScanOptions {
    /// Whether it asks for times or PHYs that controllers need not have.
    fileprivate var isSpecial: Bool { timing != nil || codedTiming != nil || phys.contains(.coded) }
}
