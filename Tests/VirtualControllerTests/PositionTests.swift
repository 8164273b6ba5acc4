import BLECore
import HCI
import Testing
import VirtualController

/// The signal strength between controllers at a distance.
@Suite struct PositionTests {
    @Test(
        arguments: [
            (0.0, -20), (0.1, -20), (1, -40), (2, -46), (10, -60), (100, -80), (999, -100),
        ] as [(Double, Int8)])
    func rssiFallsWithDistance(_ meters: Double, _ rssi: Int8) {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.air.setPosition(AirPosition(x: 3, y: 4, z: -1), of: scanner, at: bench.now)
        bench.air.setPosition(AirPosition(x: 3, y: 4, z: meters - 1), of: advertiser, at: bench.now)
        bench.make(Bench.parameters(0, []), on: advertiser)
        bench.scanExtended(on: scanner)
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(1))
        #expect(bench.extendedReports(scanner).map(\.rssi) == [rssi])
    }

    /// The lower the transmit power of a set, the lower its RSSI and its range. The path loss at 25 m is 68 dB.
    @Test(arguments: [(0, -68), (-12, -80), (-32, -100), (-33, nil)] as [(Int8, Int8?)])
    func rssiFollowsAdvertisingPower(_ power: Int8, _ rssi: Int8?) {
        var bench = Bench()
        let scanner = bench.joinExtended()
        let advertiser = bench.joinExtended { $0.minimumTransmitPower = -40 }
        bench.air.setPosition(AirPosition(x: 0), of: scanner, at: bench.now)
        bench.air.setPosition(AirPosition(x: 15, y: 20), of: advertiser, at: bench.now)
        var parameters = Bench.parameters(0, .scannable)
        parameters.txPower = power
        bench.make(parameters, on: advertiser, response: [1, 2, 3])
        bench.scanExtended(on: scanner, .active)
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(1))
        #expect(bench.extendedReports(scanner).map(\.rssi) == (rssi.map { [$0, $0] } ?? []))
    }

    /// On a connection, the RSSI at each end depends on the transmit power of the other end.
    @Test func rssiFollowsPeerTransmitPower() throws {
        var bench = Bench()
        var configuration = VirtualController.Configuration()
        let central = bench.join(configuration)
        configuration.transmitPower = 8
        let peripheral = bench.join(configuration)
        let (one, other) = try bench.connect(central, to: peripheral)
        #expect(try bench.ask(ReadRSSI(connection: one), on: central).value == -42)
        #expect(try bench.ask(ReadRSSI(connection: other), on: peripheral).value == -50)
        bench.setRSSI(-70, between: central, and: peripheral)
        #expect(try bench.ask(ReadRSSI(connection: one), on: central).value == -62)
        #expect(try bench.ask(ReadRSSI(connection: other), on: peripheral).value == -70)
        bench.setRSSI(20, between: central, and: peripheral)
        #expect(try bench.ask(ReadRSSI(connection: one), on: central).value == 20, "no report has more")
    }

    @Test func linkEndsWhenPeerMovesOutOfRange() throws {
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
