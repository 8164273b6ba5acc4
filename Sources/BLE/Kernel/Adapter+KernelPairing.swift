import BLECore
import HCISocket
import Logging
import SMP

extension Adapter {
    /// Starts handling pairing on a kernel adapter. This process answers the kernel's questions about
    /// pairings on its own links, unless bluetoothd runs. A process that manages pairing also sets how the
    /// kernel pairs, and loads the keys of its bonds into the kernel: these settings and keys have one owner,
    /// which is bluetoothd where it runs.
    func beginKernelPairing() async throws(BLEError) {
        guard kernel != nil, kernelPairing == nil else { return }
        kernelPairing = KernelPairing(on: loop)
        if security.options.managesKernelPairing { try await setUpKernelPairing() }
    }

    /// Manages pairing from now on, because a bonded device is connected: the kernel needs the keys of the bonds.
    /// Throws `.adapter(.pairedBy)` where bluetoothd owns the settings and keys.
    func manageKernelPairing() async throws(BLEError) {
        guard let pairing = kernelPairing else { throw end ?? .adapter(.closed) }
        if let running = pairing.setup {
            if let error = await running.value { throw error }
            return
        }
        let setup = Task(executorPreference: loop) { [weak self] () -> BLEError? in
            guard let self, await !ownsKernelPairing() else { return nil }
            do throws(BLEError) {
                try await setUpKernelPairing()
                return nil
            } catch {
                return error
            }
        }
        pairing.setup = setup
        defer { pairing.setup = nil }
        if let error = await setup.value { throw error }
    }

    private func setUpKernelPairing() async throws(BLEError) {
        guard let kernel else { return }
        if let daemon = await kernel.kernel.bluetoothDaemon() {
            throw .adapter(.pairedBy(bluetoothDaemon: daemon))
        }
        let known = try await kernel.management.adapters().first { $0.index == kernel.index }
        guard let information = known?.information else { throw .adapter(.removed) }
        let settings = KernelPairingSettings(options: security.options, before: information.current)
        let commands = try settings.setUp(information.supported)
        kernelPairing?.setUp(from: information.current)
        do throws(BLEError) {
            for command in commands { try await runOnKernel(command) }
            guard security.options.isBonding else { return try await loadKernelKeys() }
            // Subscribed before the keys are loaded, so that no change is missed.
            let changes = security.options.bonds.changes()
            try await loadKernelKeys()
            watchKernelBonds(changes)
        } catch {
            await resetKernelPairing()
            throw error
        }
    }

    /// Passes changes of bonds to the kernel.
    private func watchKernelBonds(_ first: BoundedStream<BondChange>) {
        let bonds = security.options.bonds
        let watch = Task(executorPreference: loop) { [weak self] in
            var changes = first
            while !Task.isCancelled {
                do throws(BLEError) {
                    for try await change in changes { await self?.received(change) }
                    return
                } catch .overflow {
                    // Changes were lost. A load of all keys replaces all that the kernel has.
                    changes = bonds.changes()
                    await self?.loadKeysSoon(insteadOf: [])
                } catch .cancelled {
                    // Pairing on this adapter has ended.
                    return
                } catch {
                    self?.log.warning("changes of bonds are not passed to the kernel any more: \(error)")
                    return
                }
            }
        }
        kernelPairing?.watchBonds(watch)
    }

    private func loadKernelKeys() async throws(BLEError) {
        guard let limit = kernel?.management.maximumCommand else { return }
        takeBonds()
        let keys = KernelKeys(common.bonds.recordsByAddress(at: identity), within: limit)
        if keys.leftOut > 0 {
            log.warning(
                "the kernel's list of keys is full: \(keys.leftOut) keys of the least used bonds are left out"
            )
        }
        for command in keys.loading { try await runOnKernel(command) }
    }

    /// Updates the kernel after bonds were added or removed, perhaps by another process.
    private func received(_ change: BondChange) async {
        takeBonds()
        guard await ownsKernelPairing() else { return }
        for id in change.removed where id.local == identity {
            do throws(BLEError) {
                try await runOnKernel(.unpairDevice(id.peer, disconnects: false))
            } catch .managementRefused(_, .notPaired) {
                // The kernel has no keys of the device.
            } catch {
                log.warning("the kernel does not remove the keys of \(id.peer): \(error)")
                // A load of all keys replaces all that the kernel has.
                loadKeysSoon(insteadOf: [id.peer])
            }
        }
        // Includes bonds that the kernel made: another load may have removed their keys before they were
        // saved.
        let new = change.added.filter { $0.local == identity }
        guard !new.isEmpty else { return }
        // The kernel already has the keys of its own pairings, unless another load removed them before they
        // were saved.
        loadKeysSoon(
            insteadOf: new.filter { id in
                let bond = common.bonds[id]?.bond
                return bond.map { kernelPairing?.holds($0) == false } ?? false
            }.map(\.peer))
    }

    /// Restores the adapter's earlier settings. The keys stay in the kernel, because links may be using them.
    func endKernelPairing() async {
        await resetKernelPairing()
        kernelPairing?.close()
        kernelPairing = nil
    }

    /// Returns whether this process controls how the kernel pairs, and has loaded its bonds. If bluetoothd
    /// has been started since, it controls both from then on, and the earlier settings are not restored.
    private func ownsKernelPairing() async -> Bool {
        guard let kernel, kernelPairing?.isSetUp == true else { return false }
        guard let daemon = await kernel.kernel.bluetoothDaemon() else {
            return kernelPairing?.isSetUp == true
        }
        if kernelPairing?.setBack() != nil {
            log.warning("bluetoothd, process \(daemon), pairs on \(name) now, and keeps the bonds")
        }
        return false
    }

    private func resetKernelPairing() async {
        guard await ownsKernelPairing() else { return }
        guard let before = kernelPairing?.setBack() else { return }
        for command in KernelPairingSettings(options: security.options, before: before).tearDown {
            try? await runOnKernel(command)
        }
    }

    private func runOnKernel(_ command: ManagementCommand) async throws(BLEError) {
        guard let kernel else { return }
        _ = try await kernel.management.request(
            command, index: kernel.index, operation: .setUpPairing(kernel.index))
    }
}

// MARK: - Events of the kernel

extension Adapter {
    /// Handles the kernel's events of pairings and keys.
    func receivedPairingEvent(_ event: ManagementEvent) {
        guard let pairing = kernelPairing else { return }
        if let made = pairing.take(event, as: identity, with: links.map(\.peer), at: loop.now) {
            kernelPaired(made)
        }
        loadOwedKeys()
        if let peer = event.askedPeer { kernelLink(to: peer)?.protection.kernelPairs() }
        switch event {
        case .confirmationRequest(let peer, isPlain: true, _): askWhetherToPair(with: peer)
        case .confirmationRequest(let peer, isPlain: false, let value):
            let isTaken = takesPairing(with: peer)
            ask(about: peer) { delegate in
                let isRight =
                    isTaken ? await delegate.compare(Passkey(lowestDigitsOf: value), with: peer) : false
                return isRight ? .userConfirmationReply(peer) : .userConfirmationNegativeReply(peer)
            }
        case .passkeyRequest(let peer):
            let isTaken = takesPairing(with: peer)
            ask(about: peer) { delegate in
                guard isTaken else { return .userPasskeyNegativeReply(peer) }
                let passkey = await delegate.enterPasskey(for: peer, reportingTo: KeypressSender { _ in })
                return passkey.map { .userPasskeyReply(peer, $0.value) } ?? .userPasskeyNegativeReply(peer)
            }
        case .passkeyNotify(let peer, let value, entered: 0) where takesPairing(with: peer):
            if let fixed = security.options.fixedPasskey, fixed.value != value {
                log.warning("the kernel shows a passkey of its own: \(AdapterProblem.Feature.fixedPasskey)")
            }
            ask(about: peer) { delegate in
                await delegate.display(Passkey(lowestDigitsOf: value), for: peer)
                return nil
            }
        case .authenticationFailed(let peer, let status):
            if let link = kernelLink(to: peer) { kernelPairingFailed(link, status) }
        case .unpaired(let peer) where pairing.isSetUp:
            Task(executorPreference: loop) { await self.kernelUnpaired(peer) }
        default: break
        }
    }

    /// Returns whether a pairing with this device is accepted. A pairing that this host starts always is.
    private func takesPairing(with peer: DeviceAddress) -> Bool {
        security.options.acceptsPairing || kernelLink(to: peer)?.role == .central
    }

    /// Asks whether a device may pair without authentication. Refuses a peer whose bond is authenticated,
    /// because any device could claim its address.
    private func askWhetherToPair(with peer: DeviceAddress) {
        guard let link = kernelLink(to: peer) else { return }
        let bond = link.protection.bond
        let isDowngrade = bond?.strength.isAuthenticated == true
        if isDowngrade { log.warning("\(peer) was authenticated before and is not now: refused") }
        let isAccepted = !isDowngrade && takesPairing(with: peer)
        // On a link that is encrypted with the key of the bond, the device has shown that it has it.
        let replaced = link.security.isBonded ? nil : bond
        ask(about: peer) { delegate in
            let isWanted =
                isAccepted ? await delegate.authorizePairing(with: peer, replacing: replaced) : false
            return isWanted ? .userConfirmationReply(peer) : .userConfirmationNegativeReply(peer)
        }
    }

    /// Passes a question of the kernel to the delegate if it concerns a link of this process. Other programs
    /// on the adapter answer for their own links.
    private func ask(
        about peer: DeviceAddress,
        _ question: @escaping @Sendable (any PairingDelegate) async -> ManagementCommand?
    ) {
        guard let kernel, kernelLink(to: peer) != nil else { return }
        let (management, index, delegate) = (kernel.management, kernel.index, security.options.delegate)
        let control = kernel.kernel
        kernelPairing?.ask(about: peer) { [log] in
            // bluetoothd may have been started since.
            guard await control.bluetoothDaemon() == nil else {
                return log.info("bluetoothd runs: it answers for \(peer)")
            }
            guard !Task.isCancelled, let reply = await question(delegate), !Task.isCancelled else { return }
            do throws(BLEError) {
                _ = try await management.request(reply, index: index, operation: .answerPairing(peer))
            } catch {
                // The pairing had already ended.
                log.debug("\(error)")
            }
        }
    }

    /// Removes the bond of a device whose keys were removed from the kernel, unless bluetoothd owned the
    /// keys.
    private func kernelUnpaired(_ peer: DeviceAddress) async {
        if await ownsKernelPairing() { forgetBond(with: peer) }
    }

    private func kernelPaired(_ made: KernelKeyring.Pairing) {
        let link = link(of: made)
        let isKnown = common.bonds[made.bond.id] != nil
        if let link { kernelPaired(link, made) }
        // Keys that were not certainly made on a link of this process, or are for one link only, must not
        // replace those of the bond on the next link.
        if isKnown, link == nil || !isBonding(made) { loadKeysSoon(insteadOf: [made.bond.peer]) }
        if link == nil, isBonding(made) {
            log.info(
                "\(made.bond.peer) has paired, not on a link that is certainly of this process: it is not kept"
            )
        }
    }

    /// Returns the link of this process on which a pairing made its keys; nil when that is uncertain.
    private func link(of made: KernelKeyring.Pairing) -> Link? {
        guard let name = made.link else { return nil }
        let possible = links(to: name)
        return possible.count == 1 ? possible[0] : nil
    }

    /// Returns whether this process saves the keys of a pairing as a bond. Where bluetoothd runs, it owns
    /// them.
    private func isBonding(_ made: KernelKeyring.Pairing) -> Bool {
        made.isKept && security.options.isBonding && kernelPairing?.isSetUp == true
    }

    /// Handles the keys of a pairing. Keys that are shorter than the minimum, or weaker than those of the
    /// bond, are removed from the kernel, and the link is ended.
    private func kernelPaired(_ link: Link, _ made: KernelKeyring.Pairing) {
        // The kernel reports the keys of a legacy pairing one by one.
        guard link.givenUp == nil else { return }
        guard made.bond.strength.keySize >= security.options.minimumKeySize else {
            reportPairingFailure(.pairing(.local(.encryptionKeySize)), of: link)
            return giveUp(made.bond, of: link, .pairing(.local(.encryptionKeySize)))
        }
        link.protection.paired(made.bond, isBonding: isBonding(made), isTaken: isTaken)
        protect(link)
    }

    /// Removes a pairing's keys from the kernel, and ends the link. If they replaced the keys of a bond,
    /// restores those and unpairs nothing, because other processes would then remove the bond.
    func giveUp(_ bond: Bond, of link: Link, _ error: BLEError) {
        log.warning("the keys of \(link.peer) are given up: \(error)")
        link.givenUp = error
        waits.end(.security(link.id), .failure(error))
        guard common.bonds[bond.id] == nil else {
            loadKeysSoon(insteadOf: [bond.peer])
            return fail(link, error, .authenticationFailure)
        }
        let id = link.id
        Task(executorPreference: loop) { await self.unpair(bond.peer, orEnd: id, error) }
    }

    /// Removes a device's keys from the kernel, and ends its link. Where bluetoothd owns the keys, only ends
    /// the link.
    private func unpair(_ peer: DeviceAddress, orEnd id: LinkID, _ error: BLEError) async {
        _ = await ownsKernelPairing()
        if await kernel?.kernel.bluetoothDaemon() == nil {
            try? await runOnKernel(.unpairDevice(peer, disconnects: true))
        } else if let link = links[id] {
            fail(link, error, .authenticationFailure)
        }
    }

    /// Requests a load of the keys of all bonds into the kernel, where they replace other keys of these
    /// peers.
    func loadKeysSoon(insteadOf peers: [DeviceAddress]) {
        guard let pairing = kernelPairing, pairing.isSetUp, security.options.isBonding else { return }
        pairing.requestKeys(insteadOf: peers)
        withholdBonds()
        loadOwedKeys()
    }

    /// Loads the keys of all bonds into the kernel, if a load is due and no device is pairing.
    func loadOwedKeys() {
        switch kernelPairing?.nextLoad(at: loop.now) {
        case nil, .some(.none): break
        case .wait(let moment): wake(by: moment)
        case .load: Task(executorPreference: loop) { await self.loadKeys() }
        }
    }

    private func loadKeys() async {
        var isDone = true
        do throws(BLEError) {
            isDone = await ownsKernelPairing()
            if isDone { try await loadKernelKeys() }
        } catch {
            log.warning("the kernel does not take the keys of bonds: \(error)")
            isDone = false
        }
        kernelPairing?.loaded(isDone: isDone, at: loop.now)
        loadOwedKeys()
    }

    /// Returns the links of this process to the device that the kernel knows by this address.
    private func links(to peer: DeviceAddress) -> [Link] {
        links.filter { $0.peer == peer || kernelPairing?.identity(of: $0.peer) == peer }
    }

    private func kernelLink(to peer: DeviceAddress) -> Link? {
        let links = links(to: peer)
        return links.first { $0.peer == peer } ?? links.first
    }
}

extension ManagementEvent {
    /// The device about which the kernel asks the user something, or for which it shows something.
    fileprivate var askedPeer: DeviceAddress? {
        switch self {
        case .confirmationRequest(let peer, _, _), .passkeyRequest(let peer), .passkeyNotify(let peer, _, _):
            peer
        default: nil
        }
    }
}
