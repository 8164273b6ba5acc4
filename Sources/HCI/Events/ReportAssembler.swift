import BLECore

/// Puts the reports of chained advertising together: data that do not fit one event come in several, the
/// last of which says that it is (Core Specification 5.4, Vol 4, Part E, 7.7.65.13).
///
/// ```swift
/// for whole in assembler.take(report) { print(whole) }
/// ```
/// Bounded: of more unfinished chains than `chainLimit` the oldest is returned as it is, marked as
/// truncated, and so is a chain that became longer than any can be. An event that repeats the octets with which its
/// chain began shows that the end of the chain was lost: the chain is returned, marked as truncated, and the event
/// begins another. A lost event in the middle of a chain does not show.
package struct ReportAssembler: Sendable {
    /// Chains that may be unfinished at a time.
    package static let chainLimit = 16
    /// The longest advertising data, in octets (Vol 6, Part B, 4.4.2.11).
    package static let octetLimit = 1650

    /// What the parts of one chain have in common.
    private struct Source: Hashable {
        let advertiser: HCIAddress?
        let set: UInt8?
        let isScanResponse: Bool

        init(_ report: AdvertisingReport) {
            (advertiser, set) = (report.advertiser, report.sid)
            isScanResponse = report.type.contains(.scanResponse)
        }
    }

    /// A chain of which more is to come.
    private struct Chain {
        var report: AdvertisingReport
        /// The octets of the first event.
        let firstCount: Int

        /// Whether `event` has the octets of the first one.
        func isRepeated(by event: AdvertisingReport) -> Bool {
            event.data.count == firstCount && report.data.starts(with: event.data)
        }
    }

    private var chains: [Source: Chain] = [:]
    /// The sources of unfinished chains, the oldest first.
    private var order: [Source] = []

    package init() {}

    /// Takes a report; returns what is complete, or will never be, with it: nothing, or one report, and before
    /// it perhaps an older one that is given up.
    package mutating func take(_ report: AdvertisingReport) -> [AdvertisingReport] {
        // Most are whole, and nothing is unfinished.
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
