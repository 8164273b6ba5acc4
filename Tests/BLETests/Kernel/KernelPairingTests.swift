import ATT
import BLECore
import GATTServer
import HCI
import HCISocket
import SMP
import Testing
import VirtualController

@testable import BLE

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let lampOctets: [UInt8] = [6, 5, 4, 3, 2, 0xc1, 2]
private let stranger: [UInt8] = [9, 9, 9, 9, 9, 0xc9, 2]

/// Returns the parameters of New Long Term Key for a key of LE Secure Connections with the value 0x77.
private func longTermKey(kind: UInt8) -> [UInt8] {
    let names: [UInt8] = [kind, 0, 16] + [UInt8](repeating: 0, count: 10)
    let value: [UInt8] = [0x77] + [UInt8](repeating: 0, count: 15)
    return [1] + lampOctets + names + value
}

private func bond(isAuthenticated: Bool) -> Bond {
    var bond = Bond(
        with: lamp, as: FakeKernel.address,
        PairingStrength(isAuthenticated: isAuthenticated, isSecureConnections: true))
    bond.centralKey = LongTermKey(0x77)
    bond.peripheralKey = LongTermKey(0x77)
    return bond
}

/// The delegate of a user who answers as configured, or not at all. It reports each question.
private struct User: PairingDelegate {
    let ioCapability = IOCapability.keyboardDisplay
    var isWilling = true
    var hesitates = false
    /// A stream after whose end the user answers; nil to answer at once.
    var consent: AsyncStream<Void>?
    let asked = AsyncStream<String>.makeStream()

    /// Returns the next question.
    func next() async -> String? {
        for await question in asked.stream { return question }
        return nil
    }

    private func note(_ question: String) async {
        asked.continuation.yield(question)
        if let consent {
            for await _ in consent {}
            asked.continuation.yield("answered")
        }
        guard hesitates else { return }
        // Waits until the task is cancelled.
        let (never, continuation) = AsyncStream<Void>.makeStream()
        for await _ in never {}
        continuation.finish()
        asked.continuation.yield("withdrawn")
    }

    func display(_ passkey: Passkey, for peer: DeviceAddress) async { await note("display \(passkey)") }
    func enterPasskey(for peer: DeviceAddress) async -> Passkey? {
        await note("enter")
        return isWilling ? Passkey(123_456) : nil
    }
    func compare(_ passkey: Passkey, with peer: DeviceAddress) async -> Bool {
        await note("compare \(passkey)")
        return isWilling
    }
    func authorizePairing(with peer: DeviceAddress, isBonded: Bool) async -> Bool {
        await note(isBonded ? "authorize again" : "authorize")
        return isWilling
    }
}

/// A delegate that agrees to replace bonds, and records them.
private struct Replacing: PairingDelegate {
    let asked = Lock<[Bond?]>([])

    func authorizePairing(with peer: DeviceAddress, replacing bond: Bond?) async -> Bool {
        asked.withLock { $0.append(bond) }
        return true
    }
}

/// The kernel's requests, the questions that the user then receives, and the replies of a user who agrees or refuses.
private let questions: [(UInt16, [UInt8], String, yes: ManagementCommand, no: ManagementCommand)] = [
    (
        0x000f, lampOctets + [1, 0, 0, 0, 0], "authorize", .userConfirmationReply(lamp),
        .userConfirmationNegativeReply(lamp)
    ),
    (
        0x000f, lampOctets + [0, 0x2a, 0, 0, 0], "compare 000042", .userConfirmationReply(lamp),
        .userConfirmationNegativeReply(lamp)
    ),
    (
        0x0010, lampOctets, "enter", .userPasskeyReply(lamp, 123_456), .userPasskeyNegativeReply(lamp)
    ),
]

/// Returns options for pairing with `user` as the delegate and with these bonds.
private func security(_ user: User, _ bonds: Bond...) throws -> SecurityOptions {
    var options = SecurityOptions()
    options.delegate = user
    options.managesKernelPairing = true
    for bond in bonds { try options.bonds.insert(bond) }
    return options
}

@Suite(.timeLimit(.minutes(10))) struct KernelPairingTests {
    private func run(
        _ security: SecurityOptions, _ body: @escaping @Sendable (KernelHost) async throws -> Void
    ) async throws {
        try await KernelHost.run(security: security) { host in
            // Skips the commands of opening: IO capability, Secure Connections, bondable, long term keys,
            // identity keys.
            for _ in 0..<5 { _ = await host.kernel.nextCommand() }
            try await body(host)
        }
    }

    @Test("the kernel's settings and keys are set on open, and the settings restored on close")
    func settingsAndKeysAreSetAndRestored() async throws {
        let commands = Lock<[ManagementCommand]>([])
        try await run(try security(User(), bond(isAuthenticated: true))) { host in
            // Each of two calls returns when all settings are restored.
            let closings = (0..<2).map { _ in
                Task(executorPreference: host.loop) {
                    await host.adapter.close()
                    return host.commands.count
                }
            }
            for closing in closings { #expect(await closing.value == 8) }
            commands.withLock { $0 = host.commands }
        }
        #expect(
            commands.withLock { $0 } == [
                .setIOCapability(4), .setSecureConnections(.on), .setBondable(true),
                .loadLongTermKeys([
                    Management.LongTermKey(peer: lamp, kind: .authenticatedP256, value: 0x77)
                ]),
                .loadIdentityKeys([]),
                .setIOCapability(3), .setBondable(false), .setSecureConnections(.off),
            ])
    }

    @Test(
        "an adapter that does not manage pairing gets the keys of the bonds before a link to a bonded device is used",
        arguments: [LinkRole.central, .peripheral])
    func bondedDeviceIsEncryptedByUnmanagedKernel(role: LinkRole) async throws {
        var options = try security(User(), bond(isAuthenticated: true))
        options.managesKernelPairing = false
        try await KernelHost.run(security: options) { host in
            let socket = KernelSocket(on: host.loop)
            let link = await host.link(to: lamp, as: role, over: socket)
            #expect(host.commands.isEmpty)
            let encrypted = Task(executorPreference: host.loop) {
                await failure { () throws(BLEError) in try await host.adapter.encryptIfBonded(link) }
            }
            await host.wait(.seconds(1))
            #expect(
                host.commands.contains(
                    .loadLongTermKeys([
                        Management.LongTermKey(peer: lamp, kind: .authenticatedP256, value: 0x77)
                    ])))
            #expect(socket.required == [.encrypted])
            socket.reach(.authenticated)
            #expect(await encrypted.value == nil)
        }
    }

    @Test("a link to a bonded device that does not encrypt it is not used")
    func unansweredEncryptionIsLostBond() async throws {
        try await run(try security(User(), bond(isAuthenticated: true))) { host in
            let link = await host.link(to: lamp, as: .central, over: KernelSocket(on: host.loop))
            let problem = await failure { () throws(BLEError) in try await host.adapter.encryptIfBonded(link)
            }
            #expect(problem == .bondLost(lamp))
        }
    }

    @Test("beside bluetoothd, whose keys the kernel has, a link to a bonded device is not used")
    func bondedDeviceIsRefusedBesideDaemon() async throws {
        var options = try security(User(), bond(isAuthenticated: true))
        options.managesKernelPairing = false
        try await KernelHost.run(security: options) { host in
            host.kernel.daemon = 4711
            let socket = KernelSocket(on: host.loop)
            let link = await host.link(to: lamp, as: .central, over: socket)
            let problem = await failure { () throws(BLEError) in try await host.adapter.encryptIfBonded(link)
            }
            #expect(problem == .adapter(.pairedBy(bluetoothDaemon: 4711)))
            #expect(socket.required.isEmpty && host.commands.isEmpty)
        }
    }

    @Test("the delegate receives the bond that a pairing would replace, and a failed pairing is an event")
    func replacedBondAndFailureAreReported() async throws {
        let (user, known) = (Replacing(), bond(isAuthenticated: false))
        var options = SecurityOptions()
        options.delegate = user
        options.managesKernelPairing = true
        try options.bonds.insert(known)
        try await run(options) { host in
            let events = PeripheralManager(host.adapter).events()
            let socket = KernelSocket(on: host.loop)
            _ = await host.link(to: lamp, as: .peripheral, over: socket)
            host.kernel.emit(0x000f, lampOctets + [1, 0, 0, 0, 0])
            await host.wait(.seconds(1))
            #expect(user.asked.withLock { $0 } == [known])
            host.kernel.emit(0x0011, lampOctets + [5])
            var short = longTermKey(kind: 2)
            short[10] = 7
            host.kernel.emit(0x000a, short)
            await host.wait(.seconds(1))
            socket.lose()
            var (failures, end): ([BLEError], BLEError?) = ([], nil)
            for try await event in events {
                if case .pairingFailed(_, let error) = event { failures.append(error) }
                if case .disconnected(_, _, let error) = event {
                    end = error
                    break
                }
            }
            let refusal = BLEError.pairing(.local(.encryptionKeySize))
            #expect(failures == [.kernelPairing(.authenticationFailed), refusal])
            #expect(end == refusal)
        }
    }

    @Test("a comparison that no person makes is none, and not a display alone, which would refuse Just Works")
    func unseenComparisonIsNoCapability() throws {
        var options = SecurityOptions()
        for (capability, wanted) in [(IOCapability.displayYesNo, 3), (.keyboardDisplay, 2)] {
            options.delegate = Capable(ioCapability: capability, comparesNumbers: false)
            let settings = KernelPairingSettings(options: options, before: [.bondable])
            #expect(try settings.setUp([.secureConnections]).first == .setIOCapability(UInt8(wanted)))
        }
    }

    @Test("with a silent delegate and without bonds no settings are changed")
    func silentDelegateChangesNoSettings() async throws {
        try await KernelHost.run { host in
            await host.adapter.close()
            #expect(host.commands.isEmpty)
        }
    }

    @Test("the user's answer is passed to the kernel", arguments: questions, [true, false])
    func answerGoesToKernel(
        question: (UInt16, [UInt8], String, yes: ManagementCommand, no: ManagementCommand), isWilling: Bool
    ) async throws {
        let user = User(isWilling: isWilling)
        try await run(try security(user)) { host in
            _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            host.kernel.emit(question.0, question.1)
            #expect(await user.next() == question.2)
            #expect(await host.kernel.nextCommand() == (isWilling ? question.yes : question.no))
        }
    }

    @Test("a host that accepts no pairing refuses each pairing of a central", arguments: questions)
    func hostWithoutPairingRefusesCentral(
        question: (UInt16, [UInt8], String, yes: ManagementCommand, no: ManagementCommand)
    ) async throws {
        let user = User()
        var options = try security(user)
        options.acceptsPairing = false
        try await run(options) { host in
            _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            host.kernel.emit(0x0017, lampOctets + [0x40, 0xe2, 1, 0, 0])
            host.kernel.emit(question.0, question.1)
            #expect(await host.kernel.nextCommand() == question.no)
            user.asked.continuation.finish()
            #expect(await user.next() == nil)
        }
    }

    @Test("a passkey is displayed without an answer; links of other programs cause no questions")
    func displayedPasskeyNeedsNoAnswer() async throws {
        let user = User()
        try await run(try security(user)) { host in
            _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            host.kernel.emit(0x000f, stranger + [1, 0, 0, 0, 0])
            host.kernel.emit(0x0017, lampOctets + [0x40, 0xe2, 1, 0, 0])
            #expect(await user.next() == "display 123456")
            host.kernel.emit(0x0010, lampOctets)
            #expect(await user.next() == "enter")
            #expect(await host.kernel.nextCommand() == .userPasskeyReply(lamp, 123_456))
        }
    }

    @Test(
        "a question is withdrawn when the pairing is over",
        arguments: [
            (0x0011, lampOctets + [5]), (0x000c, lampOctets + [0]), (0x000a, longTermKey(kind: 2)),
        ] as [(UInt16, [UInt8])])
    func questionIsWithdrawnAfterPairing(code: UInt16, parameters: [UInt8]) async throws {
        let user = User(hesitates: true)
        try await run(try security(user)) { host in
            _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            host.kernel.emit(0x000f, lampOctets + [0, 1, 0, 0, 0])
            #expect(await user.next() == "compare 000001")
            host.kernel.emit(code, parameters)
            #expect(await user.next() == "withdrawn")
            // A new bond is loaded into the kernel.
            await host.wait(.milliseconds(1))
            #expect(host.commands.count == (code == 0x000a ? 7 : 5))
        }
    }

    @Test("only an unauthenticated bond can be renewed without authentication")
    func authenticatedBondRefusesDowngrade() async throws {
        for isAuthenticated in [true, false] {
            let user = User()
            try await run(try security(user, bond(isAuthenticated: isAuthenticated))) { host in
                _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
                host.kernel.emit(0x000f, lampOctets + [1, 0, 0, 0, 0])
                #expect(
                    await host.kernel.nextCommand()
                        == (isAuthenticated
                            ? .userConfirmationNegativeReply(lamp) : .userConfirmationReply(lamp)))
            }
        }
    }

    @Test("a bonded peer that pairs needs authorization for pairing again")
    func bondedPeerIsAuthorizedAgain() async throws {
        let user = User()
        try await run(try security(user, bond(isAuthenticated: false))) { host in
            _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            host.kernel.emit(0x000f, lampOctets + [1, 0, 0, 0, 0])
            #expect(await user.next() == "authorize again")
        }
    }

    @Test("a bond is kept when both sides bond; a removal by another program removes it here")
    func bondRequiresBothSides() async throws {
        let options = try security(User())
        try await run(options) { host in
            let socket = KernelSocket(on: host.loop)
            _ = await host.link(to: lamp, over: socket)
            host.kernel.emit(0x000a, [0] + longTermKey(kind: 3).dropFirst())
            _ = await host.loop.sleep(for: .milliseconds(1))
            #expect(await host.adapter.bonds == [])
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            _ = await host.loop.sleep(for: .milliseconds(1))
            #expect(await host.adapter.bonds == [bond(isAuthenticated: true)])
            host.kernel.emit(0x0016, lampOctets)
            _ = await host.loop.sleep(for: .milliseconds(1))
            #expect(await host.adapter.bonds == [])
        }
    }

    @Test("the kernel drops a removed bond and loads a bond that is inserted")
    func kernelFollowsBondChanges() async throws {
        let options = try security(User(), bond(isAuthenticated: true))
        try await run(options) { host in
            try await host.adapter.removeBond(with: lamp)
            #expect(await host.kernel.nextCommand() == .unpairDevice(lamp, disconnects: false))
            try options.bonds.insert(bond(isAuthenticated: false))
            #expect(
                await host.kernel.nextCommand()
                    == .loadLongTermKeys([
                        Management.LongTermKey(peer: lamp, kind: .unauthenticatedP256, value: 0x77)
                    ]))
        }
    }

    @Test("keys that the kernel does not remove are replaced by a load of all keys", arguments: [0x0f, 0x06])
    func unremovedKeysAreReplaced(status: UInt8) async throws {
        let options = try security(User(), bond(isAuthenticated: true))
        try await run(options) { host in
            var refused: [ManagementCommand] = []
            host.kernel.refusals.append { command in
                guard case .unpairDevice = command else { return nil }
                refused.append(command)
                return ManagementStatus(rawValue: status)
            }
            try await host.adapter.removeBond(with: lamp)
            await host.wait(.seconds(1))
            #expect(refused == [.unpairDevice(lamp, disconnects: false)])
            let isLoaded = host.commands.contains(.loadLongTermKeys([]))
            // With "not paired" there is nothing to remove.
            #expect(isLoaded == (status != 0x06))
        }
    }

    @Test("a key that is too short or weaker than the bond is removed from the kernel")
    func weakKeyIsRemovedFromKernel() async throws {
        var short = longTermKey(kind: 3)
        short[10] = 15
        for (key, bonds) in [(short, []), (longTermKey(kind: 2), [bond(isAuthenticated: true)])]
            as [([UInt8], [Bond])]
        {
            let options = try security(User())
            for bond in bonds { try options.bonds.insert(bond) }
            try await run(options) { host in
                _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
                host.kernel.emit(0x000a, key)
                // A key that has replaced those of a bond is not unpaired, because other processes would then
                // remove the bond.
                let removed = ManagementCommand.unpairDevice(lamp, disconnects: true)
                #expect(await host.kernel.nextCommand() == (bonds.isEmpty ? removed : Self.reloaded))
                #expect(await host.adapter.bonds == bonds)
            }
        }
    }

    // MARK: Others that own pairing

    @Test("bluetoothd that starts later keeps the kernel's settings and keys")
    func laterDaemonKeepsKernelState() async throws {
        let bond = bond(isAuthenticated: true)
        let options = try security(User(), bond)
        try await run(options) { host in
            host.kernel.daemon = 4711
            let before = host.commands.count
            options.bonds.remove(bond.id)
            await host.wait(.seconds(1))
            await host.adapter.close()
            #expect(host.commands.count == before, "nothing is unpaired, loaded or set back")
        }
    }

    @Test("a bond is kept when bluetoothd unpairs the device") func daemonUnpairingKeepsBond() async throws {
        let bond = bond(isAuthenticated: false)
        let options = try security(User(), bond)
        try await run(options) { host in
            host.kernel.daemon = 4711
            host.kernel.emit(0x0016, lampOctets)
            await host.wait(.seconds(1))
            #expect(await host.adapter.bonds == [bond])
        }
    }

    @Test(
        "a key that is too short is removed from the kernel unless bluetoothd runs",
        arguments: [false, true])
    func shortKeyIsRemovedUnlessDaemonRuns(hasDaemon: Bool) async throws {
        var options = try security(User())
        if !hasDaemon { options.managesKernelPairing = false }
        try await KernelHost.run(security: options) { host in
            let socket = KernelSocket(on: host.loop)
            let link = await host.link(to: lamp, over: socket)
            if hasDaemon { host.kernel.daemon = 4711 }
            let before = host.commands.count
            var key = longTermKey(kind: 3)
            key[10] = 15
            host.kernel.emit(0x000a, key)
            await host.wait(.seconds(1))
            #expect(
                host.commands.dropFirst(before)
                    == (hasDaemon ? [] : [.unpairDevice(lamp, disconnects: true)]))
            #expect(await host.adapter.hasRefused(link) == hasDaemon)
        }
    }

    @Test("an adapter that is released while bluetoothd runs leaves the settings unchanged")
    func releasedAdapterKeepsSettingsForDaemon() async throws {
        let kernel = Lock<FakeKernel?>(nil)
        let options = try security(User())
        try await VirtualTestbed.run { bed in
            let fake = try FakeKernel(
                await bed.air.attach(.init(publicAddress: FakeKernel.address)), on: bed.loop, extended: false,
                isOff: false)
            kernel.withLock { $0 = fake }
            do {
                var adapterOptions = AdapterOptions(loop: bed.loop, security: options)
                adapterOptions.kernel = fake
                let adapter = try await Adapter.open(
                    .kernel(.index(FakeKernel.index)), options: adapterOptions)
                fake.daemon = 4711
                withExtendedLifetime(adapter) {}
            }
            let before = fake.commands.count
            await bed.wait(.seconds(1))
            #expect(fake.commands.count == before)
        }
    }

    /// Pairs a device that claims the identity of `lamp`, which has a bond, and runs `body` after the user was asked.
    private func claim(_ user: User, _ body: @escaping @Sendable (KernelHost, LinkID) async throws -> Void)
        async throws
    {
        let options = try security(user, bond(isAuthenticated: true))
        try await run(options) { host in
            let socket = KernelSocket(on: host.loop)
            let hidden = DeviceAddress(0x4909_0909_0909, type: .random)
            let link = await host.link(to: hidden, over: socket)
            socket.set(.authenticated)
            host.kernel.emit(
                0x0018, [1, 9, 9, 9, 9, 9, 0x49] + lampOctets + [UInt8](repeating: 0x55, count: 16))
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            #expect(await user.next() == "authorize again")
            #expect(await host.adapter.bonds == [bond(isAuthenticated: true)])
            // Until the user has answered, a device that reconnects with the new key is not the bonded device.
            #expect(await host.kernel.nextCommand() == Self.reloaded)
            try await body(host, link)
        }
    }

    private static let reloaded = ManagementCommand.loadLongTermKeys([
        Management.LongTermKey(peer: lamp, kind: .authenticatedP256, value: 0x77)
    ])

    @Test(
        "a device that claims a bonded identity replaces the bond only with the user's consent",
        arguments: [false, true])
    func claimedIdentityNeedsConsent(isWilling: Bool) async throws {
        try await claim(User(isWilling: isWilling)) { host, link in
            await host.wait(.seconds(1))
            let bonds = await host.adapter.bonds
            if isWilling {
                #expect(bonds.map(\.peerIdentityKey) == [0x5555_5555_5555_5555_5555_5555_5555_5555])
                // The kernel has the new keys.
                #expect(
                    host.commands.suffix(2) == [
                        Self.reloaded, .loadIdentityKeys([KernelPairingTests.identityKey]),
                    ])
            } else {
                #expect(bonds == [bond(isAuthenticated: true)])
                #expect(host.port.opcodes.contains(.disconnect))
            }
            #expect(await host.adapter.hasRefused(link) == !isWilling)
            #expect(await host.adapter.security(of: link)?.isBonded == isWilling)
            #expect(!host.commands.contains(.unpairDevice(lamp, disconnects: true)))
        }
    }

    @Test(
        "pairing again at a bonded address needs the user's consent or the bond's key",
        arguments: [false, true], [false, true])
    func claimedAddressNeedsConsentOrKey(isWilling: Bool, hasKey: Bool) async throws {
        let user = User(isWilling: isWilling)
        try await run(try security(user, bond(isAuthenticated: true))) { host in
            let socket = KernelSocket(on: host.loop)
            let link = await host.link(to: lamp, over: socket)
            if hasKey { socket.reach(.authenticated) }
            await host.wait(.milliseconds(1))
            host.kernel.emit(0x0017, lampOctets + [0x40, 0xe2, 1, 0, 0])
            #expect(await user.next() == "display 123456")
            // The pairing encrypts the link before the kernel reports its keys.
            socket.reach(.authenticated)
            await host.wait(.milliseconds(1))
            #expect(await host.adapter.security(of: link)?.isBonded == hasKey)
            var key = longTermKey(kind: 3)
            key[21] = 0x78
            host.kernel.emit(0x000a, key)
            if !hasKey { #expect(await user.next() == "authorize again") }
            await host.wait(.seconds(1))
            let isRenewed = isWilling || hasKey
            #expect(await host.adapter.bonds.map(\.centralKey) == [LongTermKey(isRenewed ? 0x78 : 0x77)])
            #expect(await host.adapter.hasRefused(link) == !isRenewed)
            #expect(await host.adapter.security(of: link)?.isBonded == isRenewed)
        }
    }

    private static let identityKey = Management.IdentityKey(
        peer: lamp, value: 0x5555_5555_5555_5555_5555_5555_5555_5555)

    @Test("a claim that the user does not answer leaves the bond unchanged")
    func unansweredClaimKeepsBond() async throws {
        try await claim(User(hesitates: true)) { host, link in
            await host.wait(.seconds(29))
            #expect(await !host.adapter.hasRefused(link))
            await host.wait(.seconds(2))
            #expect(await host.adapter.hasRefused(link))
            #expect(await host.adapter.bonds == [bond(isAuthenticated: true)])
        }
    }

    @Test("a claim of a second device does not answer the question about the first")
    func secondClaimDoesNotAnswerFirst() async throws {
        try await claim(User(hesitates: true)) { host, first in
            let other = DeviceAddress(0x4808_0808_0808, type: .random)
            let second = await host.link(
                to: other, over: KernelSocket(on: host.loop, handle: ConnectionHandle(0x41)))
            host.kernel.emit(
                0x0018, [1, 8, 8, 8, 8, 8, 0x48] + lampOctets + [UInt8](repeating: 0x66, count: 16))
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            await host.wait(.seconds(1))
            #expect(await host.adapter.hasRefused(second))
            #expect(await !host.adapter.hasRefused(first))
            #expect(await host.adapter.security(of: first)?.isBonded == false)
        }
    }

    @Test("a claimant that reconnects causes a new question, and the old one is withdrawn")
    func reconnectedClaimantIsAskedAbout() async throws {
        let user = User(hesitates: true)
        try await claim(user) { host, first in
            await host.adapter.lose(first)
            let link = await host.link(
                to: DeviceAddress(0x4808_0808_0808, type: .random), over: KernelSocket(on: host.loop))
            host.kernel.emit(
                0x0018, [1, 8, 8, 8, 8, 8, 0x48] + lampOctets + [UInt8](repeating: 0x66, count: 16))
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            #expect(await user.next() == "withdrawn")
            #expect(await user.next() == "authorize again")
            #expect(await !host.adapter.hasRefused(link))
            await host.wait(.seconds(31))
            #expect(await host.adapter.hasRefused(link))
            #expect(await host.adapter.bonds == [bond(isAuthenticated: true)])
        }
    }

    @Test("a device that claims an identity behind an unresolvable address needs authorization")
    func unresolvableClaimIsAuthorized() async throws {
        let user = User()
        try await run(try security(user, bond(isAuthenticated: false))) { host in
            let hidden = DeviceAddress(0x0909_0909_0909, type: .random)
            let link = await host.link(to: hidden, over: KernelSocket(on: host.loop))
            host.kernel.emit(0x000f, [9, 9, 9, 9, 9, 9, 2, 1, 0, 0, 0, 0])
            #expect(await user.next() == "authorize")
            host.kernel.emit(
                0x0018, [1, 0, 0, 0, 0, 0, 0] + lampOctets + [UInt8](repeating: 0x55, count: 16))
            host.kernel.emit(0x000a, longTermKey(kind: 2))
            #expect(await user.next() == "authorize again")
            await host.wait(.seconds(1))
            #expect(await host.adapter.security(of: link) != nil)
        }
    }

    @Test("a device behind an unresolvable address is identified when it pairs again")
    func unresolvableDevicePairsAgainByIdentity() async throws {
        let user = User()
        try await run(try security(user)) { host in
            let hidden = DeviceAddress(0x0909_0909_0909, type: .random)
            _ = await host.link(to: hidden, over: KernelSocket(on: host.loop))
            host.kernel.emit(0x000f, [9, 9, 9, 9, 9, 9, 2, 1, 0, 0, 0, 0])
            #expect(await user.next() == "authorize")
            host.kernel.emit(
                0x0018, [1, 0, 0, 0, 0, 0, 0] + lampOctets + [UInt8](repeating: 0x55, count: 16))
            host.kernel.emit(0x000a, longTermKey(kind: 2))
            await host.wait(.seconds(1))
            #expect(await host.adapter.bonds.map(\.peer) == [lamp])
            host.kernel.emit(0x000f, lampOctets + [0, 0x2a, 0, 0, 0])
            #expect(await user.next() == "compare 000042")
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            await host.wait(.seconds(1))
            #expect(await host.adapter.bonds.map(\.strength.isAuthenticated) == [true])
        }
    }

    @Test(
        "the kernel loads keys only when no device pairs, as loading drops other keys",
        arguments: [true, false])
    func keyLoadWaitsForPairings(isTold: Bool) async throws {
        try await run(try security(User())) { host in
            _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            // A device of another program pairs.
            host.kernel.emit(0x000f, stranger + [1, 0, 0, 0, 0])
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            await host.wait(.seconds(119))
            #expect(await host.adapter.bonds == [bond(isAuthenticated: true)])
            #expect(host.commands.count == 5)
            // The kernel does not report the end of a pairing that distributes no keys.
            if isTold { host.kernel.emit(0x0011, stranger + [5]) }
            await host.wait(.milliseconds(isTold ? 1 : 1001))
            #expect(host.commands.suffix(2) == [Self.reloaded, .loadIdentityKeys([])])
        }
    }

    @Test("a link does not count as bonded while the kernel lacks the bond's keys")
    func linkIsUnprovenUntilKeysAreLoaded() async throws {
        try await run(try security(User(), bond(isAuthenticated: true))) { host in
            // A device of another program pairs, and another key replaces the bond's key in the kernel.
            host.kernel.emit(0x000f, stranger + [1, 0, 0, 0, 0])
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            await host.wait(.milliseconds(1))
            let link = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            #expect(await host.adapter.isBonded(link) == false)
            await host.adapter.lose(link)
            host.kernel.emit(0x0011, stranger + [5])
            #expect(await host.kernel.nextCommand() == Self.reloaded)
            await host.wait(.milliseconds(1))
            let next = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            #expect(await host.adapter.isBonded(next) == true)
        }
    }

    @Test("after a bond is replaced, a new link counts as bonded only once the kernel has the new keys")
    func replacedBondNeedsLoadedKeys() async throws {
        let (consent, answer) = AsyncStream<Void>.makeStream()
        let user = User(consent: consent)
        try await claim(user) { host, link in
            await host.wait(.seconds(1))
            // The kernel has loaded the bond's keys again. The user then agrees to replace the bond.
            host.kernel.refusals = [
                { if case .loadLongTermKeys = $0 { ManagementStatus(rawValue: 0x0a) } else { nil } }
            ]
            answer.finish()
            #expect(await user.next() == "answered")
            await host.wait(.seconds(1))
            #expect(await host.adapter.security(of: link)?.isBonded == true)
            let early = await host.link(
                to: lamp, over: KernelSocket(on: host.loop, handle: ConnectionHandle(0x41)))
            #expect(await host.adapter.isBonded(early) == false)
            host.kernel.refusals = []
            await host.wait(.seconds(11))
            let late = await host.link(
                to: lamp, over: KernelSocket(on: host.loop, handle: ConnectionHandle(0x42)))
            #expect(await host.adapter.isBonded(late) == true)
        }
    }

    @Test("a link that starts before the bond's keys are reloaded does not count as bonded")
    func linkBeforeReloadIsNotBonded() async throws {
        try await run(try security(User(), bond(isAuthenticated: true))) { host in
            host.kernel.refusals = [
                { if case .loadLongTermKeys = $0 { ManagementStatus(rawValue: 0x0a) } else { nil } }
            ]
            // One link begins before the key of another device replaces the bond's, the others begin after that.
            let sockets = [0x40, 0x41, 0x42].map {
                KernelSocket(on: host.loop, handle: ConnectionHandle($0))
            }
            var links = [await host.link(to: lamp, over: sockets[0])]
            #expect(await host.adapter.isBonded(links[0]) == true)
            host.kernel.emit(
                0x0018, [1, 0, 0, 0, 0, 0, 0] + lampOctets + [UInt8](repeating: 0x55, count: 16))
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            await host.wait(.milliseconds(1))
            for socket in sockets.dropFirst() { links.append(await host.link(to: lamp, over: socket)) }
            for socket in sockets.dropLast() { socket.reach(.authenticated) }
            await host.wait(.milliseconds(1))
            host.kernel.refusals = []
            await host.wait(.seconds(11))
            try await host.adapter.keepBond(with: DeviceAddress(0x1234, type: .public))
            await host.wait(.seconds(1))
            for link in links.dropLast() {
                #expect(await host.adapter.security(of: link) == LinkSecurity(level: .authenticated))
                #expect(await host.adapter.isBonded(link) == false)
            }
            // The encryption of this link may have begun before the reload.
            #expect(await host.adapter.isBonded(links[2]) == false)
            let next = await host.link(
                to: lamp, over: KernelSocket(on: host.loop, handle: ConnectionHandle(0x43)))
            #expect(await host.adapter.isBonded(next) == true)
        }
    }

    @Test("a pairing without keys ends 30 s after it has encrypted its link")
    func keylessPairingEnds30SecondsAfterEncryption() async throws {
        let user = User()
        try await run(try security(user)) { host in
            _ = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            let other = DeviceAddress(0x0909_0909_0909, type: .random)
            _ = await host.link(to: other, over: KernelSocket(on: host.loop, handle: ConnectionHandle(0x41)))
            host.kernel.emit(0x000f, [9, 9, 9, 9, 9, 9, 2, 1, 0, 0, 0, 0])
            #expect(await user.next() == "authorize")
            #expect(await host.kernel.nextCommand() == .userConfirmationReply(other))
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            await host.wait(.milliseconds(1))
            host.port.emit(
                EncryptionChange(status: .success, connection: ConnectionHandle(0x41), mode: .on).packet)
            await host.wait(.seconds(29))
            #expect(host.commands.last == .userConfirmationReply(other))
            await host.wait(.seconds(2))
            #expect(host.commands.suffix(2) == [Self.reloaded, .loadIdentityKeys([])])
        }
    }

    @Test("a bonded central regains its subscriptions when its next link is encrypted")
    func bondedCentralRegainsSubscriptions() async throws {
        try await run(try security(User(), bond(isAuthenticated: true))) { host in
            let manager = PeripheralManager(host.adapter)
            try await manager.publish([
                GATTService(0xfff0, characteristics: [GATTCharacteristic(0xfff1, properties: .notify)])
            ])
            let handle = try #require(await manager.valueHandle(of: 0xfff1))
            let configuration = AttributeHandle(rawValue: handle.rawValue + 1)
            let first = KernelSocket(on: host.loop)
            let link = await host.link(to: lamp, over: first)
            first.reach(.authenticated)
            first.peer.send(ATTRequest.write(configuration, value: [1, 0]).encoded.span)
            await host.wait(.seconds(1))
            #expect(try await manager.update(handle, to: [1]).map(\.link) == [link])
            await host.adapter.lose(link)
            let second = KernelSocket(on: host.loop, handle: ConnectionHandle(0x41))
            let next = await host.link(to: lamp, over: second)
            #expect(try await manager.update(handle, to: [2]).isEmpty)
            second.reach(.authenticated)
            await host.wait(.seconds(1))
            #expect(try await manager.update(handle, to: [3]).map(\.link) == [next])
            await host.adapter.lose(next)
            // The kernel may encrypt a link before it reports the channel.
            let third = KernelSocket(on: host.loop, handle: ConnectionHandle(0x42))
            third.set(.authenticated)
            let last = await host.link(to: lamp, over: third)
            #expect(try await manager.update(handle, to: [4]).map(\.link) == [last])
        }
    }

    @Test("a refused load of keys is retried") func refusedKeyLoadIsRetried() async throws {
        try await run(try security(User(), bond(isAuthenticated: true))) { host in
            host.kernel.refusals = [
                { if case .loadLongTermKeys = $0 { ManagementStatus(rawValue: 0x0a) } else { nil } }
            ]
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            await host.wait(.seconds(9))
            // Until the retry, a link does not count as bonded, even when other bonds change.
            let link = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            try await host.adapter.removeBond(with: DeviceAddress(0x1234, type: .public))
            await host.adapter.renewBonds()
            #expect(await host.adapter.isBonded(link) == false)
            host.kernel.refusals = []
            let before = host.commands.count
            await host.wait(.seconds(2))
            #expect(host.commands.dropFirst(before).first == Self.reloaded)
        }
    }

    @Test("a newly bonded device counts as bonded on its next link while others pair")
    func newlyBondedDeviceIsRecognizedOnNextLink() async throws {
        try await run(try security(User())) { host in
            let link = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            host.kernel.emit(0x000f, stranger + [1, 0, 0, 0, 0])
            host.kernel.emit(0x000a, longTermKey(kind: 3))
            await host.wait(.milliseconds(1))
            await host.adapter.lose(link)
            let next = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            #expect(await host.adapter.isBonded(next) == true)
        }
    }

    @Test("a claim of a bonded identity does not affect the open link of the bonded device")
    func claimDoesNotAffectBondedLink() async throws {
        let user = User(isWilling: false)
        try await run(try security(user, bond(isAuthenticated: false))) { host in
            let own = await host.link(to: lamp, over: KernelSocket(on: host.loop))
            // For a device behind an unresolvable address there is no question, and its keys are not stored.
            let unknown = await host.link(
                to: DeviceAddress(0x0909_0909_0909, type: .random),
                over: KernelSocket(on: host.loop, handle: ConnectionHandle(0x42)))
            host.kernel.emit(
                0x0018, [1, 0, 0, 0, 0, 0, 0] + lampOctets + [UInt8](repeating: 0x55, count: 16))
            host.kernel.emit(0x000a, longTermKey(kind: 2))
            await host.wait(.seconds(1))
            #expect(await host.adapter.bonds == [bond(isAuthenticated: false)])
            await host.adapter.lose(unknown)
            let hidden = DeviceAddress(0x4909_0909_0909, type: .random)
            let other = await host.link(
                to: hidden, over: KernelSocket(on: host.loop, handle: ConnectionHandle(0x41)))
            host.kernel.emit(
                0x0018, [1, 9, 9, 9, 9, 9, 0x49] + lampOctets + [UInt8](repeating: 0x55, count: 16))
            host.kernel.emit(0x000a, longTermKey(kind: 2))
            #expect(await user.next() == "authorize again")
            await host.wait(.seconds(1))
            #expect(await host.adapter.bonds == [bond(isAuthenticated: false)])
            #expect(await !host.adapter.hasRefused(own))
            #expect(await host.adapter.hasRefused(other))
        }
    }

    @Test("keys that belong to no bond here are replaced by those of the bond", arguments: [false, true])
    func foreignKeysReplaceNoBond(isKept: Bool) async throws {
        try await run(try security(User(), bond(isAuthenticated: true))) { host in
            // The key of a device that has sent its identity, although its address cannot be resolved.
            host.kernel.emit(0x000a, [isKept ? 1 : 0] + longTermKey(kind: 3).dropFirst())
            #expect(await host.kernel.nextCommand() == Self.reloaded)
        }
    }

    @Test("a link that paired without bonding is not bonded")
    func pairingWithoutBondIsNotBonded() async throws {
        try await run(try security(User(), bond(isAuthenticated: true))) { host in
            let socket = KernelSocket(on: host.loop)
            let link = await host.link(to: lamp, over: socket)
            socket.set(.authenticated)
            host.kernel.emit(0x000a, [0] + longTermKey(kind: 3).dropFirst())
            await host.wait(.milliseconds(1))
            #expect(await host.adapter.security(of: link) == LinkSecurity(level: .authenticated))
        }
    }
}

extension Adapter {
    fileprivate func keepBond(with peer: DeviceAddress) throws {
        try security.options.bonds.insert(
            Bond(
                with: peer, as: identity,
                PairingStrength(isAuthenticated: false, isSecureConnections: true)))
    }

    fileprivate func security(of id: LinkID) -> LinkSecurity? { links[id]?.security }
    fileprivate func isBonded(_ id: LinkID) -> Bool? { links[id].map { $0.protection.bond != nil } }
    fileprivate func lose(_ id: LinkID) { if let link = links[id] { drop(link, .unknown) } }

    /// Returns whether the link can no longer be used and is being disconnected.
    fileprivate func hasRefused(_ id: LinkID) -> Bool {
        links[id].map { $0.closing != nil && $0.ending.isBegun } ?? false
    }
}

@Test(
    "only settings that differ are set, and restored afterwards",
    arguments: [
        ([.bondable, .secureConnections], .preferred, true, [], []),
        ([.bondable], .off, true, [], []),
        (
            [.classic], .preferred, true,
            [.setSecureSimplePairing(true), .setSecureConnections(.on), .setBondable(true)],
            [.setBondable(false), .setSecureConnections(.off), .setSecureSimplePairing(false)]
        ),
        (
            [.classic, .secureSimplePairing, .secureConnections, .bondable], .only, false,
            [.setSecureConnections(.only), .setBondable(false)],
            [.setBondable(true), .setSecureConnections(.on)]
        ),
        (
            [.secureConnections, .bondable], .off, true, [.setSecureConnections(.off)],
            [.setSecureConnections(.on)]
        ),
    ]
        as [(
            Management.Settings, SecureConnectionsUse, Bool, [ManagementCommand],
            [ManagementCommand]
        )])
func changedSettingsAreRestored(
    before: Management.Settings, wanted: SecureConnectionsUse, isBonding: Bool,
    setUp: [ManagementCommand], tearDown: [ManagementCommand]
) throws {
    var options = try security(User())
    options.secureConnections = wanted
    options.isBonding = isBonding
    let settings = KernelPairingSettings(options: options, before: before)
    #expect(try settings.setUp([.secureConnections]) == [.setIOCapability(4)] + setUp)
    #expect(settings.tearDown == [.setIOCapability(3)] + tearDown)
}

@Test("an adapter without Secure Connections pairs unless they are required")
func requiredSecureConnectionsNeedAdapterSupport() throws {
    var options = try security(User())
    let without = KernelPairingSettings(options: options, before: [])
    #expect(try without.setUp([]) == [.setIOCapability(4), .setBondable(true)])
    options.secureConnections = .only
    let only = KernelPairingSettings(options: options, before: [])
    #expect(throws: BLEError.adapter(.unsupported(.secureConnections))) { try only.setUp([]) }
}

@Test("a fixed passkey is refused where the kernel would display its own")
func displayedFixedPasskeyIsRefused() throws {
    var options = SecurityOptions()
    options.fixedPasskey = Passkey(1)
    for capability in [IOCapability.displayOnly, .displayYesNo, .keyboardOnly, .keyboardDisplay] {
        options.delegate = Capable(ioCapability: capability)
        let settings = KernelPairingSettings(options: options, before: [.bondable])
        if capability == .displayOnly || capability == .displayYesNo {
            #expect(throws: BLEError.adapter(.unsupported(.fixedPasskey))) {
                try settings.setUp([.secureConnections])
            }
        } else {
            #expect(try settings.setUp([.secureConnections]).first == .setIOCapability(capability.rawValue))
        }
    }
}

private struct Capable: PairingDelegate {
    let ioCapability: IOCapability
    var comparesNumbers = true
}

@Test("beyond the kernel's limit the most recently used keys are loaded")
func mostRecentKeysFitKernelLimit() {
    let records = (1...2000).map { number in
        var bond = bond(isAuthenticated: false)
        bond.peer = DeviceAddress(UInt64(number), type: .public)
        return BondRecord(bond, created: Timestamp(milliseconds: Int64(number)))
    }
    let keys = KernelKeys(records)
    #expect(keys.encryption.count == 1820)
    #expect(keys.encryption.first?.peer.value == 2000)
    #expect(keys.encryption.last?.peer.value == 181)
    #expect(keys.leftOut == 180)
}
