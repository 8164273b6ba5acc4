import BLE
import BLECore
import GATTServer
import HCISocket
import SMP
import Testing

/// Tests of new keys for encrypted links, during notifications on these links.
struct KeyRefreshTests {
    /// The security of a link that the server reports.
    private static let safe = LinkSecurity(level: .encrypted, isBonded: true)

    /// Runs `refresh` while the server sends a hundred notifications, a millisecond apart. Checks that the client
    /// receives all of them in order, and that the server reports the link's security `times` times.
    private static func refreshing(
        times: Int, refresh: @escaping @Sendable (PairedHosts, Peripheral, Central) async throws -> Void
    ) async throws {
        try await PairedHosts.run { hosts in
            let (device, central) = try await hosts.connectFromBothSides()
            try await device.pair()
            let characteristic = try #require(try await device.discover().characteristics(0xaa00).first)
            let values = try await device.values(of: characteristic)
            let manager = PeripheralManager(hosts.server)
            let events = manager.events()
            let loop = hosts.server.loop
            let sending = Task(executorPreference: loop) {
                for number in UInt8(0)..<100 {
                    _ = try await manager.update(
                        characteristic.valueHandle, to: [number], for: [central])
                    _ = await loop.sleep(for: .milliseconds(1))
                }
            }
            try await refresh(hosts, device, central)
            try await sending.value
            var received: [UInt8] = []
            for try await value in values {
                received += value.value
                if received.last == 99 { break }
            }
            #expect(received == Array(0..<100))
            #expect(try await device.security == safe)
            await device.disconnect()
            var reported: [LinkSecurity] = []
            for try await event in events {
                if case .security(_, let security) = event { reported.append(security) }
                if case .disconnected = event { break }
            }
            #expect(reported == Array(repeating: safe, count: times))
        }
    }

    @Test func centralRefreshesSessionKey() async throws {
        try await Self.refreshing(times: 3) { hosts, device, _ in
            let bonds = await hosts.client.bonds
            for _ in 0..<3 { try await device.refreshEncryption() }
            #expect(await hosts.client.bonds == bonds)
        }
    }

    @Test func peripheralRequestsKeyRefresh() async throws {
        try await Self.refreshing(times: 2) { hosts, _, central in
            let bonds = await hosts.server.bonds
            for _ in 0..<2 { try await PeripheralManager(hosts.server).refreshEncryption(of: central) }
            #expect(await hosts.server.bonds == bonds)
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize"])
        }
    }

    @Test func renewingBondReplacesKeys() async throws {
        try await Self.refreshing(times: 2) { hosts, device, _ in
            let before = try #require(await hosts.client.bonds.first)
            #expect(try await device.renewBond() == Self.safe)
            // The server receives the last of the keys one connection event later.
            _ = await hosts.server.loop.sleep(for: .milliseconds(100))
            let after = try #require(await hosts.client.bonds.first)
            #expect(await hosts.client.bonds.count == 1)
            #expect(after.centralKey != before.centralKey)
            #expect(await hosts.server.bonds.first?.peripheralKey == after.centralKey)
            // The peer still has the key, so the user is not asked about a lost bond (`authorize again`).
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize", "authorize"])
            try await device.refreshEncryption()
        }
    }

    @Test func onlyBondKeyCanBeRefreshed() async throws {
        try await PairedHosts.run { server, _ in
            server.isBonding = false
        } _: { hosts in
            let (device, central) = try await hosts.connectFromBothSides()
            let wanted = BLEError.invalidRequest(.notEncryptedByBond(hosts.address))
            #expect(await failure { () throws(BLEError) in try await device.refreshEncryption() } == wanted)
            try await device.pair()
            #expect(await failure { () throws(BLEError) in try await device.refreshEncryption() } == wanted)
            #expect(await failure { () throws(BLEError) in _ = try await device.renewBond() } == wanted)
            let manager = PeripheralManager(hosts.server)
            let refused = await failure { () throws(BLEError) in
                try await manager.refreshEncryption(of: central)
            }
            #expect(
                refused
                    == .invalidRequest(.notEncryptedByBond(central.address)))
        }
    }

    /// A link that was encrypted cannot go on without a key (Core Specification 5.4, Vol 6, Part B, 5.1.3.2).
    @Test func refreshDisconnectsPeerWithoutKey() async throws {
        try await PairedHosts.run { hosts in
            let device = try await hosts.connect()
            try await device.pair()
            try await hosts.server.removeBond(with: await hosts.client.address)
            let lost = await failure { () throws(BLEError) in try await device.refreshEncryption() }
            #expect(lost == .disconnected(.status(.pinOrKeyMissing)))
        }
    }
}
