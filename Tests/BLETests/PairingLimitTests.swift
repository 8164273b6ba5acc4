import BLECore
import HCISocket
import SMP
import Testing

@testable import BLE

/// The limits of pairings on links of this host: the delay after failures, and the Security Manager's timeout of
/// 30 s (Core Specification 5.4, Vol 3, Part H, 2.3.6 and 3.4).
@Suite(.timeLimit(.minutes(10))) struct PairingLimitTests {
    @Test("the delay after failed pairings also applies on a new link")
    func attemptDelayAppliesAcrossLinks() async throws {
        try await PairedHosts.run(server: .keyboardOnly, client: .displayOnly) { hosts in
            hosts.serverUser.slip.withLock { $0 = .otherPasskey }
            for attempt in 0..<4 {
                _ = await hosts.client.loop.sleep(for: .seconds(1 << attempt))
                let device = try await hosts.connect()
                let refused = await hosts.failureOfPairing(device)
                #expect(refused == .pairing(.peer(.confirmValueFailed)))
                await device.disconnect()
            }
            hosts.serverUser.slip.withLock { $0 = nil }
            let asked = hosts.serverUser.asked.withLock { $0 }

            // The client itself observes the delay, 8 s after the fourth failure.
            let device = try await hosts.connect()
            guard case .cannotPair(.repeatedAttempts(let end)) = await hosts.failureOfPairing(device) else {
                Issue.record("the client does not wait")
                return
            }
            // A client without a record of its failures is refused by the server, whose user is not asked.
            await hosts.client.forgetAttempts()
            #expect(await hosts.failureOfPairing(device) == .pairing(.peer(.repeatedAttempts)))
            #expect(hosts.serverUser.asked.withLock { $0 } == asked)

            _ = await hosts.client.loop.sleep(for: hosts.client.loop.now.duration(until: end))
            await hosts.client.forgetAttempts()
            #expect(try await device.pair(.authenticated).level == .secureConnections)
        }
    }

    @Test("a pairing times out after 30 s on both sides, and its link accepts no other one")
    func pairingTimesOutAfter30Seconds() async throws {
        try await PairedHosts.run(server: .keyboardOnly, client: .displayOnly) { hosts in
            hosts.serverUser.typing.withLock {
                $0 = { [loop = hosts.server.loop] in _ = await loop.sleep(for: .seconds(300)) }
            }
            let device = try await hosts.connect()
            let start = hosts.client.loop.now
            let late = await hosts.failureOfPairing(device)
            #expect(late == .pairing(.timeout))
            let duration = start.duration(until: hosts.client.loop.now)
            #expect(.seconds(30) ... .seconds(31) ~= duration, "\(duration)")
            #expect(await hosts.failureOfPairing(device) == .cannotPair(.timedOut))
            #expect(await hosts.server.bonds.isEmpty)
            await device.disconnect()
            let early = try await hosts.connect()
            guard case .cannotPair(.repeatedAttempts) = await hosts.failureOfPairing(early) else {
                Issue.record("the wait begins with the failure")
                return
            }
            await early.disconnect()
            _ = await hosts.client.loop.sleep(for: .seconds(1))

            // Pairing is possible on a new link. The first passkey was displayed and not read, so it is removed.
            hosts.serverUser.typing.withLock { $0 = nil }
            var shown = hosts.serverUser.screen.shown.stream.makeAsyncIterator()
            _ = await shown.next()
            let next = try await hosts.connect()
            #expect(try await next.pair(.authenticated).level == .secureConnections)
        }
    }

    @Test("the parameter changes of a link report its security")
    func parameterChangesReportSecurity() async throws {
        try await PairedHosts.run { hosts in
            let (device, central) = try await hosts.connectFromBothSides()
            let streams = [
                device.connection.changes(),
                PeripheralManager(hosts.server).connection(of: central).changes(),
            ]
            try await device.pair()
            for stream in streams {
                var seen: [LinkSecurity] = []
                for try await parameters in stream {
                    if seen.last != parameters.security { seen.append(parameters.security) }
                    if parameters.security.isBonded { break }
                }
                #expect(seen.last == LinkSecurity(level: .encrypted, isBonded: true))
            }
        }
    }
}

extension PairedHosts {
    /// Returns the error of an authenticated pairing; nil when it succeeds.
    fileprivate func failureOfPairing(_ device: Peripheral) async -> BLEError? {
        await failure { () throws(BLEError) in _ = try await device.pair(.authenticated) }
    }
}

extension Adapter {
    /// Deletes the record of failed pairings, as if this device kept none.
    fileprivate func forgetAttempts() {
        security.attempts = RepeatedAttempts()
        for link in links { link.pairing.attempts = PairingAttempts() }
    }
}
