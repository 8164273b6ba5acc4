import BLECore
import HCI
import Testing
import VirtualController

/// How strong controllers hear each other at a distance.
@Suite struct PositionTests {
    @Test(
        arguments: [
            (0.0, -20), (0.1, -20), (1, -40), (2, -46), (10, -60), (100, -80), (999, -100),
        ] as [(Double, Int8)])
    func distances(_ metres: Double, _ rssi: Int8) {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.air.setPosition(AirPosition(x: 3, y: 4, z: -1), of: scanner, at: bench.now)
        bench.air.setPosition(AirPosition(x: 3, y: 4, z: metres - 1), of: advertiser, at: bench.now)
        bench.make(Bench.parameters(0, []), on: advertiser)
        bench.scanExtended(on: scanner)
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(1))
        #expect(bench.extendedReports(scanner).map(\.rssi) == [rssi])
    }

    @Test func walkingAway() throws {
        var (bench, central, peripheral, one, _) = try Bench.extendedPair()
        bench.air.setPosition(AirPosition(x: 0), of: central, at: bench.now)
        #expect(try bench.ask(ReadRSSI(connection: one), on: central).value == -50, "the other is anywhere")
        bench.air.setPosition(AirPosition(x: 30, y: 40), of: peripheral, at: bench.now)
        #expect(try bench.ask(ReadRSSI(connection: one), on: central).value == -74)
        bench.air.setPosition(AirPosition(x: 3000, y: .infinity), of: peripheral, at: bench.now)
        bench.run(for: .milliseconds(421))
        #expect(
            bench.events(central) == [
                .disconnectionComplete(DisconnectionComplete(connection: one, reason: .connectionTimeout))
            ])
    }
}
