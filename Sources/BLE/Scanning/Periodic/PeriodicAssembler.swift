import BLECore
import HCI

/// Puts the reports of one event of a periodic train together. Bounded: what goes beyond the longest data
/// that there can be is cut off and marked.
struct PeriodicAssembler {
    private var begun: [UInt8] = []
    private var isCut = false

    /// Takes a report; the data, once they are all there or never will be, and whether the end is missing.
    mutating func take(_ report: LEPeriodicAdvertisingReport) -> (data: [UInt8], isTruncated: Bool)? {
        let room = ReportAssembler.octetLimit - begun.count
        begun += report.data.prefix(room)
        if report.data.count > room { isCut = true }
        guard report.dataStatus != .moreToCome else { return nil }
        defer { self = PeriodicAssembler() }
        return (begun, isCut || report.dataStatus == .truncated)
    }
}
