import ATT
import BLECore
import GATTServer
import HCISocket
import SMP
import Testing

@testable import BLE

private let capabilities: [IOCapability] = [
    .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
]

/// Pairing on links of this host, from the request that requires it to the encryption of the link.
@Suite(.timeLimit(.minutes(10))) struct PairingTests {
    @Test func protectedReadPairsOnceAndBondEncryptsNextLink() async throws {
        try await PairedHosts.run { hosts in
            let first = try await hosts.connect()
            #expect(try await hosts.read(0xaa00, of: first) == [0])
            #expect(try await first.security == .none)
            #expect(try await hosts.read(0xaa01, of: first) == [1])
            #expect(try await first.security == LinkSecurity(level: .encrypted, isBonded: true))
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize"])
            await first.disconnect()

            // The next link is already encrypted when `connect` returns.
            let second = try await hosts.connect()
            #expect(try await second.security == LinkSecurity(level: .encrypted, isBonded: true))
            #expect(try await hosts.read(0xaa01, of: second) == [1])
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize"])
            // A higher level than the bond's is refused, because neither side has input or output.
            let refused = await failure { () throws(BLEError) in _ = try await second.pair(.authenticated) }
            #expect(refused == .cannotPair(.requirements))
        }
    }

    @Test("the ATT error distinguishes a missing key from missing encryption")
    func attErrorDistinguishesMissingKeyAndEncryption() async throws {
        try await PairedHosts.run { hosts in
            func refusal(of device: Peripheral) async throws -> ATTErrorCode? {
                let values = try await device.discover().characteristics(0xaa01)
                let refused = await failure { () throws(BLEError) in
                    for value in values { _ = try await device.read(value) }
                }
                if case .att(let error)? = refused { return error.code }
                return nil
            }
            var options = ConnectionOptions()
            (options.raisesSecurity, options.encryptsIfBonded) = (false, false)
            let stranger = try await hosts.connect(options)
            #expect(try await refusal(of: stranger) == .insufficientAuthentication)
            _ = try await stranger.pair()
            await stranger.disconnect()
            let bonded = try await hosts.connect(options)
            #expect(try await refusal(of: bonded) == .insufficientEncryption)
            #expect(try await bonded.security == .none)
            for bond in await hosts.server.bonds { try await hosts.server.removeBond(with: bond.peer) }
            #expect(try await refusal(of: bonded) == .insufficientAuthentication)
        }
    }

    @Test(arguments: [
        (IOCapability.displayOnly, IOCapability.keyboardOnly, ["display"], ["enter"]),
        (.keyboardOnly, .displayOnly, ["enter"], ["display"]),
        (.displayYesNo, .keyboardOnly, ["display"], ["enter"]),
    ])
    func passkeyAuthenticates(
        _ server: IOCapability, _ client: IOCapability, _ serverAsked: [String], _ clientAsked: [String]
    ) async throws {
        try await PairedHosts.run(server: server, client: client) { hosts in
            let device = try await hosts.connect()
            #expect(
                try await device.pair(.secureConnections)
                    == LinkSecurity(level: .secureConnections, isBonded: true))
            #expect(try await hosts.read(0xaa03, of: device) == [3])
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize"] + serverAsked)
            #expect(hosts.clientUser.asked.withLock { $0 } == clientAsked)
        }
    }

    @Test func numericComparisonShowsSameNumber() async throws {
        try await PairedHosts.run(server: .displayYesNo, client: .displayYesNo) { hosts in
            let device = try await hosts.connect()
            #expect(try await device.pair(.authenticated).level == .secureConnections)
            let asked = hosts.clientUser.asked.withLock { $0 }
            #expect(asked.count == 1)
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize"] + asked)
        }
    }

    /// The questions to the users of two hosts (Core Specification 5.4, Vol 3, Part H, table 2.8).
    private struct Association {
        var central: [String] = []
        var peripheral: [String] = []
        var isAuthenticated: Bool { !central.isEmpty }

        init(_ central: IOCapability, _ peripheral: IOCapability, isSecure: Bool) {
            let comparing: Set<IOCapability> = [.displayYesNo, .keyboardDisplay]
            let typing: Set<IOCapability> = [.keyboardOnly, .keyboardDisplay]
            let both: Set = [central, peripheral]
            if both.contains(.noInputNoOutput) { return }
            if isSecure, both.isSubset(of: comparing) {
                (self.central, self.peripheral) = (["compare"], ["compare"])
            } else if both == [.keyboardOnly] {
                (self.central, self.peripheral) = (["enter"], ["enter"])
            } else if central == .keyboardOnly || typing.contains(central) && !typing.contains(peripheral) {
                (self.central, self.peripheral) = (["enter"], ["display"])
            } else if typing.contains(peripheral) {
                (self.central, self.peripheral) = (["display"], ["enter"])
            }
        }
    }

    @Test(
        "the input and output capabilities of both hosts select the pairing method", arguments: capabilities,
        [true, false])
    func ioCapabilitiesSelectMethod(central: IOCapability, isSecure: Bool) async throws {
        for peripheral in capabilities {
            let expected = Association(central, peripheral, isSecure: isSecure)
            try await PairedHosts.run(server: peripheral, client: central) { server, client in
                if !isSecure { (server.secureConnections, client.minimumKeySize) = (.off, 7) }
            } _: { hosts in
                if central == .keyboardOnly, peripheral == .keyboardOnly {
                    // The users agree on a passkey beforehand.
                    for _ in 0..<2 {
                        hosts.serverUser.screen.shown.continuation.yield(Passkey(lowestDigitsOf: 77))
                    }
                }
                let device = try await hosts.connect()
                let reached = try await device.pair(expected.isAuthenticated ? .authenticated : .encrypted)
                let level: SecurityLevel = expected.isAuthenticated ? .authenticated : .encrypted
                #expect(reached.level == (isSecure && expected.isAuthenticated ? .secureConnections : level))
                let asked = [hosts.clientUser, hosts.serverUser].map { user in
                    user.asked.withLock { $0.map { $0.split(separator: " ")[0] } }
                }
                let central = expected.isAuthenticated ? expected.central : ["authorize"]
                #expect(asked[0] == central.map { $0[...] })
                #expect(asked[1] == ["authorize"] + expected.peripheral.map { $0[...] })
            }
        }
    }

    @Test("the side that displays a passkey reports the peer's keypresses")
    func keypressesAreReportedToDisplayingSide() async throws {
        try await PairedHosts.run(server: .displayOnly, client: .keyboardOnly) { hosts in
            let keys: [KeypressNotification] = [.started, .digitEntered, .digitErased, .cleared, .completed]
            hosts.clientUser.pressed.withLock { $0 = keys }
            let device = try await hosts.connect()
            _ = try await device.pair(.authenticated)
            #expect(hosts.serverUser.keys.withLock { $0 } == keys)
        }
    }

    @Test("keypresses are not reported to a peer that enters the passkey as well")
    func typingPeerReceivesNoKeypresses() async throws {
        try await PairedHosts.run(server: .keyboardOnly, client: .keyboardOnly) { hosts in
            hosts.clientUser.pressed.withLock { $0 = [.completed] }
            for _ in 0..<2 {
                hosts.serverUser.screen.shown.continuation.yield(Passkey(lowestDigitsOf: 77))
            }
            let device = try await hosts.connect()
            #expect(try await device.pair(.authenticated).level == .secureConnections)
            #expect(hosts.serverUser.keys.withLock { $0 }.isEmpty)
        }
    }

    @Test("a bond made by a protected read gets the device's name when the devices pair explicitly")
    func bondReceivesNameOnLaterPair() async throws {
        let store = BondStore()
        try await PairedHosts.run { _, client in
            client.bonds = store
        } _: { hosts in
            let device = try await hosts.connect()
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            #expect(store.records().map(\.name) == [nil])
            _ = try await device.pair()
            #expect(store.records().map(\.name) == ["Secrets"])
        }
    }

    @Test("a host that accepts no pairing refuses it without asking the user")
    func hostWithoutPairingRefusesPeer() async throws {
        for accepts in [false, true] {
            try await PairedHosts.run { server, _ in
                server.acceptsPairing = accepts
            } _: { hosts in
                let device = try await hosts.connect()
                let refused = await failure { () throws(BLEError) in _ = try await device.pair(.encrypted) }
                #expect(refused == (accepts ? nil : .pairing(.peer(.pairingNotSupported))))
                #expect(hosts.serverUser.asked.withLock { $0 } == (accepts ? ["authorize"] : []))
                #expect(await hosts.server.bonds.isEmpty == !accepts)
            }
        }
    }

    @Test("a fixed passkey is no longer displayed after three failed pairings")
    func fixedPasskeyIsRetiredAfterThreeFailures() async throws {
        let fixed = Passkey(lowestDigitsOf: 123_456)
        try await PairedHosts.run(server: .displayOnly, client: .keyboardOnly) { server, _ in
            server.fixedPasskey = fixed
        } _: { hosts in
            let shown = Lock<[Passkey]>([])
            hosts.serverUser.shown.withLock { $0 = { passkey in shown.withLock { $0.append(passkey) } } }
            // Successful pairings do not retire the passkey, even after a failed one.
            for slip in [nil, .otherPasskey, nil, .otherPasskey, nil] as [ScriptedUser.Slip?] {
                hosts.clientUser.slip.withLock { $0 = slip }
                let device = try await hosts.connect()
                let refused = await failure { () throws(BLEError) in _ = try await device.pair(.authenticated)
                }
                #expect(refused == (slip == nil ? nil : .pairing(.peer(.confirmValueFailed))))
                await device.disconnect()
                for bond in await hosts.server.bonds { try await hosts.server.removeBond(with: bond.peer) }
                for bond in await hosts.client.bonds { try await hosts.client.removeBond(with: bond.peer) }
                _ = await hosts.client.loop.sleep(for: .seconds(10))
            }
            #expect(shown.withLock { $0 } == Array(repeating: fixed, count: 5))

            func stranger(_ slip: ScriptedUser.Slip?) async throws {
                hosts.clientUser.slip.withLock { $0 = slip }
                var security = SecurityOptions()
                security.delegate = hosts.clientUser
                let stranger = try await Adapter.open(
                    on: await hosts.air.attach(), name: "stranger",
                    options: AdapterOptions(loop: hosts.client.loop, security: security))
                let device = try await CentralManager(stranger).connect(to: hosts.address)
                let refused = await failure { () throws(BLEError) in _ = try await device.pair(.authenticated)
                }
                #expect(refused == (slip == nil ? nil : .pairing(.peer(.confirmValueFailed))))
                await stranger.close()
            }
            try await stranger(.otherPasskey)
            try await stranger(nil)
            let all = shown.withLock { $0 }
            #expect(all.count == 7 && all[5] == fixed && all[6] != fixed)
        }
    }

    @Test("failures with a fixed passkey are kept with the bonds, and count until they are cleared")
    func failuresWithFixedPasskeyAreKept() async throws {
        let fixed = Passkey(lowestDigitsOf: 123_456)
        let bonds = BondStore()
        try await PairedHosts.run(server: .displayOnly, client: .keyboardOnly) { server, _ in
            (server.fixedPasskey, server.bonds) = (fixed, bonds)
        } _: { hosts in
            let shown = Lock<[Passkey]>([])
            hosts.serverUser.shown.withLock { $0 = { passkey in shown.withLock { $0.append(passkey) } } }
            hosts.clientUser.slip.withLock { $0 = .otherPasskey }
            func fail() async throws {
                let device = try await hosts.connect()
                _ = try? await device.pair(.authenticated)
                await device.disconnect()
                _ = await hosts.client.loop.sleep(for: .seconds(60))
            }
            try await fail()
            #expect(bonds.passkeyFailures == [hosts.address: 1])
            // An earlier run of the server has counted these.
            bonds.addFailures(SecurityManager.passkeyFailureLimit, with: fixed, at: hosts.address)
            try await fail()
            try await bonds.clearPasskeyFailures()
            try await fail()
            #expect(shown.withLock { $0.map { $0 == fixed } } == [true, false, true])
            // A link that exists when they are cleared does not bring them back.
            let device = try await hosts.connect()
            _ = try? await device.pair(.authenticated)
            #expect(bonds.passkeyFailures == [hosts.address: 2])
            try await bonds.clearPasskeyFailures()
            await device.disconnect()
            _ = await hosts.client.loop.sleep(for: .seconds(60))
            #expect(bonds.passkeyFailures == [:])
            // Those with another passkey do not count.
            bonds.addFailures(9, with: Passkey(lowestDigitsOf: 1), at: hosts.address)
            try await fail()
            #expect(shown.withLock { $0.last } == fixed)
        }
    }

    @Test(arguments: [ScriptedUser.Slip.otherPasskey, .noPairing])
    func userErrorFailsPairingAndKeepsLink(_ slip: ScriptedUser.Slip) async throws {
        try await PairedHosts.run(server: .keyboardOnly, client: .displayOnly) { hosts in
            hosts.serverUser.slip.withLock { $0 = slip }
            let device = try await hosts.connect()
            let refused = await failure { () throws(BLEError) in _ = try await device.pair(.authenticated) }
            guard case .pairing = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(try await device.security == .none)
            #expect(try await hosts.read(0xaa00, of: device) == [0])
            #expect(await hosts.server.bonds.isEmpty)
        }
    }

    @Test func lostBondRequiresRemovalBeforePairing() async throws {
        try await PairedHosts.run { hosts in
            let first = try await hosts.connect()
            try await first.pair()
            await first.disconnect()
            try await hosts.server.removeBond(with: await hosts.client.address)

            // Another device could use the address, so the link is not used without encryption.
            await #expect(throws: BLEError.bondLost(hosts.address)) { try await hosts.connect() }
            var plain = ConnectionOptions()
            plain.encryptsIfBonded = false
            let second = try await hosts.connect(to: nil, plain)
            #expect(try await second.security == .none)
            #expect(try await hosts.read(0xaa00, of: second) == [0])
            let lost = await failure { () throws(BLEError) in _ = try await second.pair() }
            #expect(lost == .bondLost(hosts.address))
            // A second user of the link requires the encryption.
            await #expect(throws: BLEError.bondLost(hosts.address)) { try await hosts.connect() }
            try await hosts.client.removeBond(with: hosts.address)
            #expect(try await second.pair().level == .encrypted)
        }
    }

    @Test("a comparison that no person makes does not authenticate the peer, on the side without a person")
    func acceptedComparisonIsNotAuthenticated() async throws {
        try await PairedHosts.run(server: .displayYesNo, client: .displayYesNo) { hosts in
            hosts.serverUser.compares.withLock { $0 = false }
            let (device, _) = try await hosts.connectFromBothSides()
            #expect(try await device.pair(.authenticated).level == .secureConnections)
            #expect(
                await hosts.server.securityOfLinks == [LinkSecurity(level: .encrypted, isBonded: true)])
            #expect(await hosts.server.bonds.map(\.strength.isAuthenticated) == [false])
            let refused = await #expect(throws: BLEError.self) { try await hosts.read(0xaa02, of: device) }
            guard case .att(let response)? = refused else { throw BLEError.cancelled }
            #expect(response.code == .insufficientAuthentication)
            await device.disconnect()
            try await hosts.server.removeBond(with: await hosts.client.address)
            try await hosts.client.removeBond(with: hosts.address)
            hosts.clientUser.compares.withLock { $0 = false }
            let next = try await hosts.connect()
            let failure = await failure { () throws(BLEError) in _ = try await next.pair(.authenticated) }
            #expect(failure == .pairing(.local(.authenticationRequirements)))
        }
    }

    @Test("a maintained device that does not have the key is reported and tried again, and its bond is kept")
    func maintainedLinkIsNotUsedWithoutKey() async throws {
        let bonds = BondStore()
        try await PairedHosts.run { server, _ in
            server.bonds = bonds
        } _: { hosts in
            let first = try await hosts.connect()
            try await first.pair()
            await first.disconnect()
            let (mine, theirs) = (await hosts.client.bonds, await hosts.server.bonds)
            try await hosts.server.removeBond(with: await hosts.client.address)
            let (central, id) = (CentralManager(hosts.client), Peripheral.Identifier(hosts.address))
            let events = Lock<[MaintenanceEvent]>([])
            let lost = BLEError.bondLost(hosts.address)
            let links = central.maintain(id) { event in events.withLock { $0.append(event) } }
            let back = Task(executorPreference: hosts.client.loop) {
                // The device comes back with its key after the impostor.
                _ = await hosts.client.loop.sleep(for: .seconds(2))
                for bond in theirs { try bonds.insert(bond) }
            }
            var iterator = links.makeAsyncIterator()
            let second = try await iterator.next()
            #expect(try await second?.security.isBonded == true)
            try await back.value
            #expect(await hosts.client.bonds == mine)
            let failures = events.withLock { $0 }.dropLast()
            #expect(
                failures.count > 1
                    && failures.allSatisfy {
                        if case .failed(let error, _) = $0 { error == lost } else { false }
                    })
            await second?.disconnect()
            try await hosts.server.removeBond(with: await hosts.client.address)
            var ending = central.maintain(id, endsWhenBondLost: true).makeAsyncIterator()
            let end = await failure { () throws(BLEError) in _ = try await ending.next() }
            #expect(end == lost)
        }
    }

    @Test(
        "a bond that is too weak is replaced by a stronger one, unless the peer has lost the bond",
        arguments: [false, true])
    func strongerBondReplacesWeakerUnlessPeerLostIt(isLost: Bool) async throws {
        try await PairedHosts.run { hosts in
            let first = try await hosts.connect()
            #expect(try await first.pair(.encrypted).level == .encrypted)
            await first.disconnect()
            for user in [hosts.serverUser, hosts.clientUser] {
                user.capability.withLock { $0 = .displayYesNo }
            }
            let made = await hosts.client.bonds
            if isLost { try await hosts.server.removeBond(with: await hosts.client.address) }

            var options = ConnectionOptions()
            options.encryptsIfBonded = !isLost
            let second = try await hosts.connect(to: nil, options)
            let failure = await failure { () throws(BLEError) in try await second.pair(.authenticated) }
            if isLost {
                #expect(failure == .bondLost(hosts.address))
                #expect(await hosts.client.bonds == made)
            } else {
                #expect(failure == nil)
                #expect(try await second.security.level >= .authenticated)
                #expect(await hosts.client.bonds != made)
            }
        }
    }

    @Test func bondedPeerIsRefusedNewPairing() async throws {
        try await PairedHosts.run { hosts in
            let first = try await hosts.connect()
            try await first.pair()
            await first.disconnect()
            try await hosts.client.removeBond(with: hosts.address)

            let second = try await hosts.connect()
            let refused = await failure { () throws(BLEError) in _ = try await second.pair() }
            guard case .pairing = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize", "authorize again"])
            #expect(await hosts.server.bonds.count == 1)
        }
    }

    @Test func serverRequestsSecurity() async throws {
        try await PairedHosts.run { hosts in
            let manager = PeripheralManager(hosts.server)
            let events = manager.events()
            let (device, central) = try await hosts.connectFromBothSides()
            #expect(try await manager.requestSecurity(of: central).level == .encrypted)
            #expect(try await device.security.level == .encrypted)
            await device.disconnect()
            var given: [LinkSecurity] = []
            for try await event in events {
                if case .security(_, let security) = event { given.append(security) }
                if case .disconnected = event { break }
            }
            #expect(given.last == LinkSecurity(level: .encrypted, isBonded: true))
        }
    }

    @Test func keyWithoutBondingServesOneLink() async throws {
        try await PairedHosts.run { server, _ in
            server.isBonding = false
        } _: { hosts in
            let first = try await hosts.connect()
            #expect(try await first.pair() == LinkSecurity(level: .encrypted, isBonded: false))
            await first.disconnect()
            let second = try await hosts.connect()
            #expect(try await second.security == .none)
            #expect(try await second.pair() == LinkSecurity(level: .encrypted, isBonded: false))
        }
    }

    @Test func bondedCentralKeepsSubscriptions() async throws {
        try await PairedHosts.run { hosts in
            let manager = PeripheralManager(hosts.server)
            let (first, central) = try await hosts.connectFromBothSides()
            try await first.pair()
            let characteristic = try #require(try await first.discover().characteristics(0xaa00).first)
            let events = manager.events()
            let values = try await first.values(of: characteristic)
            for try await event in events { if case .subscribed = event { break } }
            // The server ends the link, so that the client cannot unsubscribe before.
            await manager.disconnect(central)
            _ = await failure { () throws(BLEError) in for try await _ in values {} }

            let again = manager.events()
            let second = try await hosts.connect()
            #expect(try await second.security.isBonded)
            for try await event in again {
                guard case .subscribed(_, let handle, _, _) = event else { continue }
                #expect(handle == characteristic.valueHandle)
                break
            }
        }
    }

    @Test(arguments: [true, false])
    func bondedCentralEncryptsOnSecurityRequest(_ encryptsIfBonded: Bool) async throws {
        try await PairedHosts.run { hosts in
            let (first, _) = try await hosts.connectFromBothSides()
            try await first.pair()
            await first.disconnect()
            // The central encrypts the link with the bond's key, at once or when the server requests it, and
            // does not pair again.
            var options = ConnectionOptions()
            options.encryptsIfBonded = encryptsIfBonded
            let (second, central) = try await hosts.connectFromBothSides(options)
            #expect(try await second.security.isBonded == encryptsIfBonded)
            let manager = PeripheralManager(hosts.server)
            #expect(try await manager.requestSecurity(of: central).isBonded)
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize"])
        }
    }

    @Test("a central without input and output answers a request for authentication")
    func centralWithoutInputAnswersAuthenticatedRequest() async throws {
        try await PairedHosts.run(server: .displayOnly) { hosts in
            let (_, central) = try await hosts.connectFromBothSides()
            let start = hosts.server.loop.now
            let error = await failure { () throws(BLEError) in
                try await PeripheralManager(hosts.server).requestSecurity(.authenticated, of: central)
            }
            // It pairs by Just Works, and the server decides.
            #expect(error == .pairing(.local(.authenticationRequirements)))
            #expect(start.duration(until: hosts.server.loop.now) < .seconds(2))
        }
    }

    @Test func pairingReportsOneSecurityEvent() async throws {
        try await PairedHosts.run { hosts in
            let events = PeripheralManager(hosts.server).events()
            let device = try await hosts.connect()
            try await device.pair()
            await device.disconnect()
            var given: [LinkSecurity] = []
            for try await event in events {
                if case .security(_, let security) = event { given.append(security) }
                if case .disconnected = event { break }
            }
            #expect(given == [LinkSecurity(level: .encrypted, isBonded: true)])
        }
    }

    @Test func pairingErrorsHaveDescriptions() {
        #expect(
            "\(BLEError.pairing(.peer(.confirmValueFailed)))"
                == "pairing failed: the peer: Confirm Value Failed")
        #expect(
            "\(BLEError.cannotPair(.requirements))"
                == "cannot pair: this side has no input or output that this security level requires")
    }

    @Test func bondedPeerSignsWritesWithoutEncryption() async throws {
        try await PairedHosts.run { hosts in
            let first = try await hosts.connect()
            try await first.pair()
            let noted = try #require(try await first.discover().characteristics(0xaa04).first)
            await first.disconnect()
            var options = ConnectionOptions()
            options.encryptsIfBonded = false
            for number in UInt8(1)...2 {
                let device = try await hosts.connect(options)
                #expect(try await device.security == .none)
                try await device.writeSigned([number], to: noted.valueHandle)
                #expect(try await device.read(noted.valueHandle) == [number])
                #expect(try await device.security == .none)
                await device.disconnect()
            }
            // The server keeps its sign counter after the link, so it ignores a counter that was used before.
            let bond = try #require(await hosts.client.bonds.first)
            let key = ATTSigningKey(csrk: try #require(bond.localSigningKey))
            let device = try await hosts.connect(options)
            try await device.writeSigned([9], to: noted.valueHandle, with: key, counter: 1)
            #expect(try await device.read(noted.valueHandle) == [2])
        }
    }

    @Test("on an encrypted link, a write without response takes the place of a signed one")
    func signedWriteOnEncryptedLink() async throws {
        try await PairedHosts.run { hosts in
            let device = try await hosts.connect()
            try await device.pair()
            let noted = try #require(try await device.discover().characteristics(0xaa04).first)
            #expect(noted.properties == [.read, .authenticatedSignedWrites])
            try await device.writeSigned([5], to: noted)
            #expect(try await device.read(noted) == [5])
            // Without a signature, the characteristic has no write that needs no response.
            let refused = await failure { () throws(BLEError) in
                try await device.writeWithoutResponse([6], to: noted)
            }
            #expect(refused == .invalidRequest(.noWriteWithoutResponse(noted.valueHandle)))
        }
    }

    @Test func signedWriteRequiresBond() async throws {
        try await PairedHosts.run { hosts in
            let device = try await hosts.connect()
            let refused = await failure { () throws(BLEError) in
                try await device.writeSigned([1], to: AttributeHandle(3))
            }
            #expect(refused == .noSigningKey(await hosts.server.address))
        }
    }
}
