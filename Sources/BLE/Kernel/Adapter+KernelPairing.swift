import BLECore
import HCISocket
import Logging
import SMP

extension Adapter {
    /// Takes up pairing on a kernel adapter. Questions of pairings on this process' links are answered here in any
    /// case, but where bluetoothd runs. A process that manages pairing also says how the kernel pairs, and gives it
    /// its bonds' keys: the kernel has one owner of these, and where bluetoothd runs, that is bluetoothd.
    func beginKernelPairing() async throws(BLEError) {
        guard kernel != nil, kernelPairing == nil else { return }
        kernelPairing = KernelPairing()
        if security.options.managesKernelPairing { try await setUpKernelPairing() }
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
            guard security.options.isBonding else { return }
            // First, so that no change is missed.
            let changes = security.options.bonds.changes()
            try await loadKernelKeys()
            let watch = Task(executorPreference: loop) { [weak self] in
                do throws(BLEError) {
                    for try await change in changes { await self?.received(change) }
                } catch .cancelled {
                    // Pairing is over here.
                } catch {
                    self?.log.warning("the kernel does not learn what becomes of bonds any more: \(error)")
                }
            }
            kernelPairing?.watchBonds(watch)
        } catch {
            await resetKernelPairing()
            throw error
        }
    }

    private func loadKernelKeys() async throws(BLEError) {
        guard let limit = kernel?.management.maximumCommand else { return }
        let keys = KernelKeys(security.options.bonds.records(at: identity), within: limit)
        if keys.leftOut > 0 {
            log.warning("the kernel has no room for \(keys.leftOut) keys of bonds that were used least")
        }
        for command in keys.loading { try await runOnKernel(command) }
    }

    /// Bonds were added or removed, perhaps by another process: updates the kernel.
    private func received(_ change: BondChange) async {
        guard await ownsKernelPairing() else { return }
        for id in change.removed where id.local == identity {
            try? await runOnKernel(.unpairDevice(id.peer, disconnects: false))
        }
        // Also those that the kernel has made: another load may have taken them from it before they were kept.
        let new = change.added.filter { $0.local == identity }
        guard !new.isEmpty else { return }
        // It has those of its own pairings already, if another load has not taken them before they were kept.
        loadKeysSoon(
            insteadOf: new.filter { id in
                let bond = security.options.bonds.record(id)?.bond
                return bond.map { kernelPairing?.holds($0) == false } ?? false
            }.map(\.peer))
    }

    /// Leaves the adapter's settings as they were. The keys stay with the kernel: links may be using them.
    func endKernelPairing() async {
        await resetKernelPairing()
        kernelPairing?.close()
        kernelPairing = nil
    }

    /// Whether this process says how the kernel pairs, and has given it its bonds. Where bluetoothd has been
    /// started since, that has both from then on, and nothing is set back.
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

// MARK: - What the kernel says

extension Adapter {
    /// Handles the kernel's events of pairings and keys.
    func receivedPairingEvent(_ event: ManagementEvent) {
        guard let pairing = kernelPairing else { return }
        if let made = pairing.take(event, as: identity, with: links.values.map(\.peer), at: loop.now) {
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

    /// Whether a pairing with that device goes on: always one that this host has begun.
    private func takesPairing(with peer: DeviceAddress) -> Bool {
        security.options.acceptsPairing || kernelLink(to: peer)?.role == .central
    }

    /// Asks whether a device may pair without authentication. Refuses a peer whose bond is authenticated: any device
    /// could claim its address.
    private func askWhetherToPair(with peer: DeviceAddress) {
        guard let link = kernelLink(to: peer) else { return }
        let bond = link.protection.bond
        let isDowngrade = bond?.strength.isAuthenticated == true
        if isDowngrade { log.warning("\(peer) was authenticated before and is not now: refused") }
        let isAccepted = !isDowngrade && takesPairing(with: peer)
        ask(about: peer) { delegate in
            let isWanted =
                isAccepted ? await delegate.authorizePairing(with: peer, isBonded: bond != nil) : false
            return isWanted ? .userConfirmationReply(peer) : .userConfirmationNegativeReply(peer)
        }
    }

    /// Puts a question of the kernel's to the delegate, if it is about a link of this process. Other programs on the
    /// adapter have theirs.
    private func ask(
        about peer: DeviceAddress,
        _ question: @escaping @Sendable (any PairingDelegate) async -> ManagementCommand?
    ) {
        guard let kernel, kernelLink(to: peer) != nil else { return }
        let (management, index, delegate) = (kernel.management, kernel.index, security.options.delegate)
        let control = kernel.kernel
        kernelPairing?.ask(about: peer) { [log] in
            // It may have been started since.
            guard await control.bluetoothDaemon() == nil else {
                return log.info("bluetoothd runs: it answers for \(peer)")
            }
            guard let reply = await question(delegate), !Task.isCancelled else { return }
            do throws(BLEError) {
                _ = try await management.request(reply, index: index, operation: .answerPairing(peer))
            } catch {
                // The pairing was over before.
                log.debug("\(error)")
            }
        }
    }

    /// A device's keys were removed from the kernel: its bond here goes with them, unless they were bluetoothd's.
    private func kernelUnpaired(_ peer: DeviceAddress) async {
        if await ownsKernelPairing() { forgetBond(with: peer) }
    }

    private func kernelPaired(_ made: KernelKeyring.Pairing) {
        let link = link(of: made)
        let isKnown = security.options.bonds.record(made.bond.id) != nil
        if let link { kernelPaired(link, made) }
        // What was made without this process, or for one link only, must not stand for the bond at the next one.
        if isKnown, link == nil || !isBonding(made) { loadKeysSoon(insteadOf: [made.bond.peer]) }
        if link == nil, isBonding(made) {
            log.info(
                "\(made.bond.peer) has paired, not on a link that is certainly of this process: it is not kept"
            )
        }
    }

    /// The link of this process on which a pairing has made keys, if that is certain.
    private func link(of made: KernelKeyring.Pairing) -> Link? {
        guard let name = made.link else { return nil }
        let possible = links(to: name)
        return possible.count == 1 ? possible[0] : nil
    }

    /// Whether what a pairing has made is kept by this process. Where bluetoothd runs, it is that one's.
    private func isBonding(_ made: KernelKeyring.Pairing) -> Bool {
        made.isKept && security.options.isBonding && kernelPairing?.isSetUp == true
    }

    /// A pairing has made keys. Those that are not to be had, for they are too short or worth less than those before,
    /// are taken from the kernel again, and the link with them.
    private func kernelPaired(_ link: Link, _ made: KernelKeyring.Pairing) {
        guard made.bond.strength.keySize >= security.options.minimumKeySize else {
            return giveUp(made.bond, of: link, .pairing(.local(.encryptionKeySize)))
        }
        link.protection.paired(made.bond, isBonding: isBonding(made), isTaken: hasBond(made.bond.id))
        protect(link)
    }

    /// Takes a pairing's keys from the kernel, and the link with them. Where they have taken the place of a
    /// bond's, those come back, and nothing is unpaired: other processes would remove the bond.
    func giveUp(_ bond: Bond, of link: Link, _ error: BLEError) {
        log.warning("the keys of \(link.peer) are given up: \(error)")
        securings.resume(link.id, with: .failure(error))
        guard security.options.bonds.record(bond.id) == nil else {
            loadKeysSoon(insteadOf: [bond.peer])
            return fail(link, error, .authenticationFailure)
        }
        let id = link.id
        Task(executorPreference: loop) { await self.unpair(bond.peer, orEnd: id, error) }
    }

    /// Takes a device's keys from the kernel, and its link with them; where bluetoothd has both, the link alone.
    private func unpair(_ peer: DeviceAddress, orEnd id: LinkID, _ error: BLEError) async {
        _ = await ownsKernelPairing()
        if await kernel?.kernel.bluetoothDaemon() == nil {
            try? await runOnKernel(.unpairDevice(peer, disconnects: true))
        } else if let link = links[id] {
            fail(link, error, .authenticationFailure)
        }
    }

    /// Gives the kernel the keys of all bonds soon, in place of others that it has for these peers.
    func loadKeysSoon(insteadOf peers: [DeviceAddress]) {
        guard let pairing = kernelPairing, pairing.isSetUp, security.options.isBonding else { return }
        pairing.oweKeys(insteadOf: peers)
        withholdBonds()
        loadOwedKeys()
    }

    /// Gives the kernel the keys of all bonds, if it is to have them and no device is pairing.
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

    /// The links of this process to the device that the kernel calls so.
    private func links(to peer: DeviceAddress) -> [Link] {
        links.values.filter { $0.peer == peer || kernelPairing?.identity(of: $0.peer) == peer }
    }

    private func kernelLink(to peer: DeviceAddress) -> Link? {
        let links = links(to: peer)
        return links.first { $0.peer == peer } ?? links.first
    }
}

extension ManagementEvent {
    /// The device that the kernel asks or shows the user something about.
    fileprivate var askedPeer: DeviceAddress? {
        switch self {
        case .confirmationRequest(let peer, _, _), .passkeyRequest(let peer), .passkeyNotify(let peer, _, _):
            peer
        default: nil
        }
    }
}
