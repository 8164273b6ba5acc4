import BLECore
import HCI

/// Puts the reports of one event of a periodic train together. Bounded: what goes beyond the longest data
/// that there can be is cut off and marked. A report that repeats the octets of the first one shows that the end of
/// the data was lost: what there is of them is returned, marked, and the report begins the next.
struct PeriodicAssembler {
    private var begun: [UInt8] = []
    /// The octets of the first report.
    private var firstCount: Int?
    private var isCut = false

    /// Takes a report; the data, once they are all there or never will be, and whether the end is missing.
    mutating func take(_ report: LEPeriodicAdvertisingReport) -> [(data: [UInt8], isTruncated: Bool)] {
        if report.data.count == firstCount, begun.starts(with: report.data) {
            let lost = begun
            self = PeriodicAssembler()
            return [(lost, true)] + take(report)
        }
        firstCount = firstCount ?? report.data.count
        let room = ReportAssembler.octetLimit - begun.count
        begun += report.data.prefix(room)
        if report.data.count > room { isCut = true }
        guard report.dataStatus != .moreToCome else { return [] }
        defer { self = PeriodicAssembler() }
        return [(begun, isCut || report.dataStatus == .truncated)]
    }
}
