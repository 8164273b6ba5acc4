import BLE
import BLECore
import GATTServer
import SMP
import Testing

/// Pairing with data that the devices have exchanged out of band.
struct OutOfBandPairingTests {
    /// A delegate that has the out-of-band data of one device.
    struct Reader: PairingDelegate {
        let record: OutOfBandRecord

        func outOfBandData(of peer: DeviceAddress) async -> OutOfBandData? {
            peer == record.address ? record.data : nil
        }
    }

    @Test func secureConnectionsRecordReachesHighestLevel() async throws {
        let offer = try #require(OutOfBandOffer())
        try await PairedHosts.run { server, _ in
            server.outOfBandOffer = offer
        } _: { hosts in
            let record = try #require(await hosts.server.outOfBandRecord)
            #expect(record == OutOfBandRecord(offer.data, of: hosts.address, role: .peripheralPreferred))
            #expect(await hosts.client.outOfBandRecord == nil)

            try await hosts.pair(after: record, to: .secureConnections)
        }
    }

    @Test func temporaryKeyAuthenticatesLegacyPairing() async throws {
        try await PairedHosts.run { server, _ in
            server.outOfBandOffer = OutOfBandOffer(temporaryKey: 0x1234)
        } _: { hosts in
            let record = try #require(await hosts.server.outOfBandRecord)
            #expect(record.data == .temporaryKey(0x1234))
            try await hosts.pair(after: record, to: .authenticated)
        }
    }
}

extension PairedHosts {
    /// Pairs a third host, which has the server's record, with the server and checks the level that this reaches.
    fileprivate func pair(after record: OutOfBandRecord, to level: SecurityLevel) async throws {
        var options = SecurityOptions()
        options.delegate = OutOfBandPairingTests.Reader(record: record)
        options.asksForOutOfBandData = true
        let reader = try await Adapter.open(
            on: await air.attach(), name: "reader",
            options: AdapterOptions(loop: server.loop, security: options))
        let device = try await CentralManager(reader).connect(to: address, timeout: .seconds(5))
        #expect(
            try await device.pair(level)
                == LinkSecurity(
                    level: level == .secureConnections ? .secureConnections : .authenticated, isBonded: true))
        await reader.close()
    }
}
