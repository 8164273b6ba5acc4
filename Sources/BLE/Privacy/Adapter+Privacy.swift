import BLECore
import HCI
import HCISocket
import Logging
import SMP

/// The own private address, and the peers whose addresses the controller resolves. Neither may be changed while the
/// radio listens or calls (Core Specification 5.4, Vol 4, Part E, 7.8.4 and 7.8.38), so it pauses for that.
extension Adapter {
    /// The address that is on air in place of the adapter's own, where it hides that; a new one from time to time.
    public var privateAddress: DeviceAddress? { privacy.own }

    /// The address by which others meet this adapter now.
    var addressOnAir: DeviceAddress { privacy.own ?? identity }

    /// The type of the address that this host shows.
    var ownAddressType: OwnAddressType { addressOnAir.type == .public ? .public : .random }

    /// Sets up what a controller that does nothing yet is to know.
    func setUpPrivacy() async throws(BLEError) {
        privacy.controllerWasReset(
            listSize: canResolve ? capabilities.resolvingListSize : 0, at: loop.now)
        watchBonds()
        notePeers()
        while let command = try privacy.nextSetupCommand(at: loop.now, newAddress: newPrivateAddress) {
            privacy.answered(try await answer(to: command), to: privacy.lastCommand, at: loop.now)
        }
        // What the radio may do follows from the end of the set-up.
        while let event = privacy.nextEvent() { note(event) }
        armPrivacy()
    }

    /// Whether the controller resolves addresses, and lets peers also show their identity, as many do that have given
    /// their key (Core Specification 5.4, Vol 6, Part B, 6.1.4). Without that their packets would be discarded.
    private var canResolve: Bool {
        capabilities.features.contains(.privacy) && capabilities.commands.contains(.leSetPrivacyMode)
    }

    /// Has the machine know the bonds.
    func notePeers() {
        let bonds = security.options.bonds
        privacy.setPeers(
            bonds.records(at: identity), localKey: privacy.options.isEnabled ? localIdentity.identityKey : 0,
            knowsHidden: bonds.knowsHiddenPeers(of: identity))
    }

    /// Sends the controller what is due, once the radio pauses.
    func reconcilePrivacy() {
        guard kernel == nil, end == nil, !recovery.isUnderWay else { return }
        // Some may have been used since.
        if !privacy.isPausing { notePeers() }
        if privacy.pauseIfDue(isSearching: synchronizer.isSearching, at: loop.now) { reconcileRadio() }
        let command = privacy.nextCommand(
            radio: radioActivity, isSearching: synchronizer.isSearching, at: loop.now,
            newAddress: newPrivateAddress)
        if let command { submit(command, of: .privacy(privacy.lastCommand)) }
        takePrivacyEvents()
        armPrivacy()
    }

    /// The controller has answered the privacy machine's command, or has not.
    func privacyAnswered(_ answer: CommandAnswer, to number: UInt64) {
        privacy.answered(answer, to: number, at: loop.now)
        reconcilePrivacy()
    }

    /// The radio has changed, which a change of addresses may wait for.
    func resumePrivacy() {
        guard privacy.awaitsRadio else { return }
        // What has changed it may go on changing it.
        loop.execute { [weak self] in self?.assumeIsolated { $0.reconcilePrivacy() } }
    }

    /// Sets the timer to the deadline of `privacy`, or stops it once the adapter has ended.
    func armPrivacy() { privacyTimer?.set(end == nil ? privacy.deadline : nil) }

    /// Time has passed. While the controller is brought back nothing can be done: that comes after it.
    func expirePrivacy() {
        guard !recovery.isUnderWay else { return }
        privacy.expire(at: loop.now)
        reconcilePrivacy()
    }

    func takePrivacyEvents() {
        while let event = privacy.nextEvent() {
            note(event)
            switch event {
            case .resumed:
                reconcileRadio()
                reconcileTrains()
                lookAgain()
                reconcilePrivacy()
                changed()
            case .trustEnded: helpController()
            case .gaveUpList: lookAgain()
            case .log, .warning: break
            }
        }
    }

    private func note(_ event: Privacy.Event) {
        switch event {
        case .log(let line): log.info("\(line)")
        case .warning(let line): log.warning("\(line)")
        case .resumed, .trustEnded, .gaveUpList: break
        }
    }

    /// Keeps everything off the air that listens or can be called, or lets it go on.
    private func reconcileRadio() {
        reconcileScan()
        reconcileAdvertising()
        reconcileConnecting()
    }

    private var radioActivity: Privacy.RadioActivity {
        if scanner.isQuiet, advertiser.isQuiet, initiator.isQuiet { return .quiet }
        return scanner.isChanging || advertiser.isChanging || !initiator.isQuiet ? .changing : .on
    }

    private func newPrivateAddress() -> DeviceAddress {
        .resolvable(.random(in: .min ... .max), key: SecurityManager.aes128(key: localIdentity.identityKey))
    }
}
