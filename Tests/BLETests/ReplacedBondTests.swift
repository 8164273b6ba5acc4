import BLECore
import GATTServer
import HCISocket
import SMP
import Testing

@testable import BLE

/// Centrals that have lost the keys of their bonds and pair again, without an operator at the server.
@Suite(.timeLimit(.minutes(10))) struct ReplacedBondTests {
    @Test("a central without its keys replaces its bond if the delegate allows it")
    func bondIsReplaced() async throws {
        let replaced = Lock<[Bond?]>([])
        try await PairedHosts.run { server, _ in
            server.delegate = Welcoming { bond in
                replaced.withLock { $0.append(bond) }
                return true
            }
        } _: { hosts in
            let first = try await hosts.connect()
            try await first.pair()
            let old = try #require(await hosts.server.bonds.first)
            await first.disconnect()
            try await hosts.client.removeBond(with: hosts.address)

            let second = try await hosts.connect()
            #expect(try await second.pair().isBonded)
            let new = try #require(await hosts.server.bonds.first)
            #expect(await hosts.server.bonds.count == 1)
            #expect(new.peer == old.peer && new.peripheralKey != old.peripheralKey)
            #expect(replaced.withLock { $0 } == [nil, old])
            await second.disconnect()
            // The new keys work.
            let third = try await hosts.connect()
            #expect(try await third.security.isBonded)
        }
    }

    @Test("a weaker pairing replaces no bond, and the bond stays until another one is complete")
    func weakerPairingReplacesNoBond() async throws {
        try await PairedHosts.run(server: .displayOnly, client: .keyboardOnly) { hosts in
            let events = PeripheralManager(hosts.server).events()
            let first = try await hosts.connect()
            #expect(try await first.pair(.authenticated).level == .secureConnections)
            let old = await hosts.server.bonds
            await first.disconnect()
            try await hosts.client.removeBond(with: hosts.address)
            hosts.serverUser.replaces.withLock { $0 = true }

            hosts.clientUser.capability.withLock { $0 = .noInputNoOutput }
            let weak = try await hosts.connect()
            let refused = await failure { () throws(BLEError) in _ = try await weak.pair() }
            #expect(refused == .pairing(.peer(.authenticationRequirements)))
            #expect(await hosts.server.bonds == old)
            await weak.disconnect()

            hosts.clientUser.capability.withLock { $0 = .keyboardOnly }
            hosts.clientUser.slip.withLock { $0 = .otherPasskey }
            let mistyped = try await hosts.connect()
            #expect(await failure { () throws(BLEError) in _ = try await mistyped.pair() } != nil)
            #expect(await hosts.server.bonds == old)
            await mistyped.disconnect()
            let failures = try await pairingFailures(among: events, count: 2)
            #expect(failures.first == .pairing(.local(.authenticationRequirements)))
            #expect(failures.count == 2)
        }
    }

    @Test("refused centrals have not to wait, and are reported")
    func refusalsAreReportedAndCountNot() async throws {
        try await PairedHosts.run { hosts in
            let events = PeripheralManager(hosts.server).events()
            let first = try await hosts.connect()
            try await first.pair()
            await first.disconnect()
            try await hosts.client.removeBond(with: hosts.address)
            let second = try await hosts.connect()
            for _ in 0..<12 {
                let refused = await failure { () throws(BLEError) in _ = try await second.pair() }
                #expect(refused == .pairing(.peer(.unspecifiedReason)))
            }
            let failures = try await pairingFailures(among: events, count: 12)
            #expect(failures == [BLEError](repeating: .pairing(.local(.unspecifiedReason)), count: 12))
            try await hosts.server.removeBond(with: hosts.client.address)
            #expect(try await second.pair().isBonded)
        }
    }

    @Test("removal of a bond clears the count of failed pairings", arguments: [false, true])
    func removalClearsCount(byAnotherProcess: Bool) async throws {
        let store = BondStore()
        try await PairedHosts.run(server: .displayOnly, client: .keyboardOnly) { server, _ in
            server.bonds = store
        } _: { hosts in
            hosts.serverUser.replaces.withLock { $0 = true }
            let events = PeripheralManager(hosts.server).events()
            let first = try await hosts.connect()
            try await first.pair(.authenticated)
            await first.disconnect()
            try await hosts.client.removeBond(with: hosts.address)

            hosts.clientUser.slip.withLock { $0 = .otherPasskey }
            for _ in 0..<2 {
                await hosts.client.forgetAttempts()
                let device = try await hosts.connect()
                #expect(await failure { () throws(BLEError) in _ = try await device.pair() } != nil)
                await device.disconnect()
            }
            let failures = try await pairingFailures(among: events, count: 2)
            #expect(failures.last == .pairing(.local(.repeatedAttempts)))
            if byAnotherProcess {
                for record in store.records() { #expect(store.remove(record.id)) }
            } else {
                try await hosts.server.removeBond(with: hosts.client.address)
            }
            hosts.clientUser.slip.withLock { $0 = nil }
            await hosts.client.forgetAttempts()
            let device = try await hosts.connect()
            #expect(try await device.pair(.authenticated).level == .secureConnections)
        }
    }

    @Test("a pairing that the end of the link interrupts is reported")
    func interruptedPairingIsReported() async throws {
        try await PairedHosts.run(server: .keyboardOnly, client: .displayOnly) { hosts in
            let events = PeripheralManager(hosts.server).events()
            let device = try await hosts.connect()
            hosts.serverUser.typing.withLock { $0 = { await device.disconnect() } }
            _ = await failure { () throws(BLEError) in _ = try await device.pair(.authenticated) }
            let failures = try await pairingFailures(among: events, count: 1)
            #expect(failures == [.disconnected(.status(.remoteUserTerminatedConnection))])
        }
    }

    /// Returns the errors of the next pairings that have failed.
    private func pairingFailures(
        among events: BoundedStream<PeripheralEvent>, count: Int
    ) async throws -> [BLEError] {
        var errors: [BLEError] = []
        while errors.count < count, let event = try await events.next(within: .seconds(60)) {
            if case .pairingFailed(_, let error) = event { errors.append(error) }
        }
        return errors
    }
}

/// A delegate that lets a function decide about bonds that are to be replaced.
private struct Welcoming: PairingDelegate {
    let decide: @Sendable (Bond?) -> Bool

    func authorizePairing(with peer: DeviceAddress, replacing bond: Bond?) async -> Bool { decide(bond) }
}

extension Adapter {
    /// Forgets the failed pairings of this host, so that it does not wait as its peer demands.
    fileprivate func forgetAttempts() { security.attempts = RepeatedAttempts() }
}
