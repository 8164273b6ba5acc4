import BLECore

/// Combines the reports of chained advertising: data that does not fit into one event is reported in several,
/// of which the last is marked as such (Core Specification 5.4, Vol 4, Part E, 7.7.65.13).
///
/// ```swift
/// for whole in assembler.take(report) { print(whole) }
/// ```
/// Memory use is bounded. If more than `chainLimit` chains are incomplete, the oldest is returned as it is,
/// marked as truncated, and so is a chain that exceeds the maximum length. An event with the same octets as
/// the first event of its chain shows that the end of the chain was lost: the chain is returned, marked as
/// truncated, and the event starts a new chain. The loss of an event in the middle of a chain cannot be
/// detected.
package struct ReportAssembler: Sendable {
    /// The maximum number of incomplete chains.
    package static let chainLimit = 16
    /// The maximum length of advertising data, in octets (Vol 6, Part B, 4.4.2.11).
    package static let octetLimit = 1650

    /// The properties that identify the parts of one chain.
    private struct Source: Hashable {
        let advertiser: HCIAddress?
        let set: UInt8?
        let isScanResponse: Bool

        init(_ report: AdvertisingReport) {
            (advertiser, set) = (report.advertiser, report.sid)
            isScanResponse = report.type.contains(.scanResponse)
        }
    }

    /// A chain whose end has not been received.
    private struct Chain {
        var report: AdvertisingReport
        /// The number of octets of the first event.
        let firstCount: Int

        /// Returns whether `event` repeats the octets of the first event.
        func isRepeated(by event: AdvertisingReport) -> Bool {
            event.data.count == firstCount && report.data.starts(with: event.data)
        }
    }

    private var chains: [Source: Chain] = [:]
    /// The sources of the incomplete chains, the oldest first.
    private var order: [Source] = []

    package init() {}

    /// Adds a report, and returns the reports that are complete or that cannot be completed any more: at most
    /// the report's own chain, preceded by an older chain that is given up.
    package mutating func take(_ report: AdvertisingReport) -> [AdvertisingReport] {
        // Most reports are complete, and no chain is incomplete.
        if chains.isEmpty, report.dataStatus != .moreToCome { return [report] }
        let source = Source(report)
        var given: [AdvertisingReport] = []
        var chain = Chain(report: report, firstCount: report.data.count)
        if var begun = chains.removeValue(forKey: source) {
            order.removeAll { $0 == source }
            if begun.isRepeated(by: report) {
                begun.report.type = begun.report.type.with(.truncated)
                given.append(begun.report)
            } else {
                chain = Chain(report: report, firstCount: begun.firstCount)
                chain.report.data = begun.report.data + report.data
            }
        }
        if chain.report.data.count > Self.octetLimit {
            chain.report.data.removeLast(chain.report.data.count - Self.octetLimit)
            chain.report.type = chain.report.type.with(.truncated)
        }
        guard chain.report.dataStatus == .moreToCome else { return given + [chain.report] }
        chains[source] = chain
        order.append(source)
        if order.count > Self.chainLimit, var oldest = chains.removeValue(forKey: order.removeFirst()) {
            oldest.report.type = oldest.report.type.with(.truncated)
            given.append(oldest.report)
        }
        return given
    }
}
