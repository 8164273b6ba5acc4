import BLECore
import HCI
import Testing

/// Returns a report of an extended scanner, with part of the data of an advertiser's set `sid`.
private func report(
    _ data: [UInt8], _ status: AdvertisingEventType.DataStatus, sid: UInt8 = 1, from address: UInt64 = 1
) -> AdvertisingReport {
    AdvertisingReport(
        LEExtendedAdvertisingReports.Report(
            type: AdvertisingEventType.connectable.with(status),
            address: HCIAddress(DeviceAddress(address, type: .public)), primaryPHY: .le1M,
            secondaryPHY: .le2M, sid: sid, rssi: -40, data: data))
}

struct ReportAssemblerTests {
    @Test func completeReportPassesThrough() {
        var assembler = ReportAssembler()
        #expect(assembler.take(report([1, 2], .complete)) == [report([1, 2], .complete)])
        #expect(assembler.take(report([1], .truncated)) == [report([1], .truncated)])
    }

    @Test func chainIsReportedWhenComplete() {
        var assembler = ReportAssembler()
        #expect(assembler.take(report([1, 2], .moreToCome)) == [])
        #expect(assembler.take(report([3], .moreToCome)) == [])
        #expect(assembler.take(report([4], .complete)) == [report([1, 2, 3, 4], .complete)])
        #expect(assembler.take(report([5], .complete)) == [report([5], .complete)])
    }

    @Test func chainsOfDifferentSetsDoNotMix() {
        var assembler = ReportAssembler()
        #expect(assembler.take(report([1], .moreToCome)) == [])
        #expect(assembler.take(report([2], .moreToCome, sid: 2)) == [])
        #expect(assembler.take(report([3], .moreToCome, from: 2)) == [])
        #expect(assembler.take(report([9], .complete, from: 3)) == [report([9], .complete, from: 3)])
        #expect(assembler.take(report([4], .truncated)) == [report([1, 4], .truncated)])
        #expect(assembler.take(report([5], .complete, from: 2)) == [report([3, 5], .complete, from: 2)])
        #expect(assembler.take(report([6], .complete, sid: 2)) == [report([2, 6], .complete, sid: 2)])
    }

    @Test func endlessChainIsReportedTruncated() {
        var assembler = ReportAssembler()
        var reported: [AdvertisingReport] = []
        for number in 0..<8 as Range<UInt8> {
            reported += assembler.take(report([UInt8](repeating: number, count: 229), .moreToCome))
        }
        #expect(reported.map(\.data.count) == [1650])
        #expect(reported.map(\.dataStatus) == [.truncated])
    }

    @Test func oldestChainIsEvictedTruncated() {
        var assembler = ReportAssembler()
        for number in 1...16 { #expect(assembler.take(report([1], .moreToCome, from: UInt64(number))) == []) }
        #expect(assembler.take(report([1], .moreToCome, from: 17)) == [report([1], .truncated, from: 1)])
    }

    /// The last event of a chain is lost, and the set is received again from its beginning.
    @Test func chainWithLostEndIsReportedTruncated() {
        var assembler = ReportAssembler()
        let first = report([1, 2], .moreToCome), second = report([3, 4], .moreToCome)
        #expect(assembler.take(first) == [])
        #expect(assembler.take(second) == [])
        #expect(assembler.take(first) == [report([1, 2, 3, 4], .truncated)])
        #expect(assembler.take(first) == [report([1, 2], .truncated)])
        #expect(assembler.take(second) == [])
        // Data that are shorter than the first event do not repeat it, and are the end of the chain.
        #expect(assembler.take(report([1], .complete)) == [report([1, 2, 3, 4, 1], .complete)])
        // The data of the set have become shorter.
        #expect(assembler.take(first) == [])
        #expect(
            assembler.take(report([1, 2], .complete))
                == [report([1, 2], .truncated), report([1, 2], .complete)])
        #expect(assembler.take(report([9], .complete)) == [report([9], .complete)])
    }
}
