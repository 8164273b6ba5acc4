import BLECore
import HCI
import Recordings
import TestSupport
import Testing

struct StatisticsTests {
    @Test func quantilesAreAccurateWithinOneEighth() {
        var histogram = LatencyHistogram()
        for latency in 1...1000 as ClosedRange<Int64> { histogram.add(latency * 100) }
        #expect(histogram.count == 1000)
        #expect(histogram.minimum == 100 && histogram.maximum == 100_000)
        #expect(histogram.mean == 50_050)
        for (part, exact) in [(0.01, 1000.0), (0.5, 50_000), (0.95, 95_000), (1, 100_000)] {
            let found = Double(histogram.quantile(part))
            #expect(found >= exact && found <= exact * 1.125)
        }
    }

    @Test func extremeLatenciesAreCounted() {
        var histogram = LatencyHistogram()
        for latency in [-5, 0, 3, 7, 8, .max] as [Int64] { histogram.add(latency) }
        #expect(histogram.minimum == 0 && histogram.maximum == .max)
        #expect(histogram.quantile(0.5) == 3)
        #expect(histogram.quantile(0.6) == 7)
        #expect(histogram.quantile(0.8) == 8)
        #expect(histogram.quantile(1) == .max)
        #expect(LatencyHistogram().mean == 0)
    }

    @Test func connectionStatisticsAreCollected() throws {
        var dissector = Dissector()
        var statistics = RecordingStatistics()
        let packets: [(Int64, Record.Direction, String)] = [
            (0, .controllerToHost, "04 3e13 01 00 4000 00 00 060504030201 1800 0000 f401 00"),
            (10_000, .hostToController, "02 4000 0700 0300 0400 02 f700"),
            (40_000, .controllerToHost, "02 4020 0700 0300 0400 03 6400"),
            (50_000, .controllerToHost, "04 3e0a 03 00 4000 0600 0100 6400"),
            (60_000, .hostToController, "02 4000 0800 0400 0400 12 0300 63"),
            (70_000, .controllerToHost, "02 4020 0900 0500 0400 01 12 0300 03"),
            (80_000, .controllerToHost, "02 4020 0a00 0600 0400 1b 0300 010203"),
            (90_000, .controllerToHost, "04 3e06 0c 00 4000 01 02"),
            (2_000_000, .controllerToHost, "04 0504 00400013"),
            (2_000_001, .hostToController, "02 4100 0700 0300 0400 02 f700"),
        ]
        for (time, direction, hex) in packets {
            statistics.add(
                dissector.dissect(
                    Record(
                        time: RecordingTime(microseconds: time), content: .packet(direction, octets(hex)))))
        }
        #expect(statistics.packets == 10)
        #expect(statistics.names["Exchange MTU Request"] == 2)
        #expect(statistics.errors == ["Write Request: Write Not Permitted (0x03)": 1])
        #expect(statistics.latencies["Exchange MTU Request"]?.maximum == 30_000)
        #expect(statistics.latencies["Write Request"]?.count == 1)
        let connection = try #require(statistics.connections.first)
        #expect(statistics.connections.count == 2)
        #expect(connection.role == .central && connection.seconds == 2)
        #expect(connection.mtu == 100)
        #expect(
            connection.parameters == [
                .init(interval: 30_000, latency: 0, timeout: 5000),
                .init(interval: 7500, latency: 1, timeout: 1000),
            ])
        #expect(connection.sent == .init(packets: 2, valueOctets: 1))
        #expect(connection.received == .init(packets: 3, valueOctets: 3))
        #expect(connection.phys?.transmit == .le1M && connection.phys?.receive == .le2M)
        #expect(connection.reason == .remoteUserTerminatedConnection)
        #expect(statistics.connections[1].handle == ConnectionHandle(0x41))
    }
}
