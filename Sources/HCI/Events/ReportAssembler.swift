import BLECore

/// Puts the reports of chained advertising together: data that do not fit one event come in several, the
/// last of which says that it is (Core Specification 5.4, Vol 4, Part E, 7.7.65.13).
///
/// ```swift
/// for whole in assembler.take(report) { print(whole) }
/// ```
/// Bounded: of more unfinished chains than `chainLimit` the oldest is returned as it is, marked as
/// truncated, and so is a chain that became longer than any can be.
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

    private var chains: [Source: AdvertisingReport] = [:]
    /// The sources of unfinished chains, the oldest first.
    private var order: [Source] = []

    package init() {}

    /// Takes a report; gives what is complete, or will never be, with it: nothing, or one report, and before
    /// it perhaps an older one that is given up.
    package mutating func take(_ report: AdvertisingReport) -> [AdvertisingReport] {
        // Most are whole, and nothing is unfinished.
        if chains.isEmpty, report.dataStatus != .moreToCome { return [report] }
        let source = Source(report)
        var whole = report
        if let begun = chains.removeValue(forKey: source) {
            order.removeAll { $0 == source }
            whole.data = begun.data + report.data
        }
        if whole.data.count > Self.octetLimit {
            whole.data.removeLast(whole.data.count - Self.octetLimit)
            whole.type = whole.type.with(.truncated)
        }
        guard whole.dataStatus == .moreToCome else { return [whole] }
        chains[source] = whole
        order.append(source)
        guard order.count > Self.chainLimit, var oldest = chains.removeValue(forKey: order.removeFirst())
        else { return [] }
        oldest.type = oldest.type.with(.truncated)
        return [oldest]
    }
}
