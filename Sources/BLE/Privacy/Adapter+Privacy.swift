import BLECore
import HCI
import HCISocket
import Logging
import SMP

/// This host's private address, and the peers whose addresses the controller resolves. Neither may be changed
/// while the radio advertises, scans or initiates (Core Specification 5.4, Vol 4, Part E, 7.8.4 and 7.8.38),
/// so it pauses for that.
extension Adapter {
    /// The private address that the adapter uses on air in place of its identity address, and changes
    /// regularly; nil without privacy.
    public var privateAddress: DeviceAddress? { privacy.own }

    /// The address that this adapter uses on air now.
    var addressOnAir: DeviceAddress { privacy.own ?? identity }

    /// The type of the address that this host shows.
    var ownAddressType: OwnAddressType { addressOnAir.type == .public ? .public : .random }

    /// Sets up privacy on a controller that is idle.
    func setUpPrivacy() async throws(BLEError) {
        privacy.controllerWasReset(
            listSize: canResolve ? capabilities.resolvingListSize : 0, at: loop.now)
        watchBonds()
        notePeers()
        while let command = try privacy.nextSetupCommand(at: loop.now, newAddress: newPrivateAddress) {
            privacy.answered(try await answer(to: command), to: privacy.lastCommand, at: loop.now)
        }
        // The events are only logged, because the radio starts after the set-up in any case.
        while let event = privacy.nextEvent() { note(event) }
        armPrivacy()
    }

    /// Whether the controller resolves addresses, and accepts peers that use their identity address, as many
    /// do that have distributed their key (Core Specification 5.4, Vol 6, Part B, 6.1.4). Otherwise their
    /// packets would be discarded.
    private var canResolve: Bool {
        capabilities.features.contains(.privacy) && capabilities.commands.contains(.leSetPrivacyMode)
    }

    /// Passes the bonds to the privacy machine.
    func notePeers() {
        let bonds = security.options.bonds
        privacy.setPeers(
            bonds.recordsByAddress(at: identity),
            localKey: privacy.options.isEnabled ? localIdentity.identityKey : 0,
            knowsHidden: bonds.knowsHiddenPeers(of: identity))
    }

    /// Begins the pause of the radio in which the address or the list of peers is changed, if such a change is due.
    /// Returns false when this host cannot make one now.
    @discardableResult
    func pauseForPrivacy() -> Bool {
        guard kernel == nil, end == nil, !recovery.isUnderWay else { return false }
        // Bonds may have been used since the last update.
        if !privacy.isPausing { notePeers() }
        if privacy.pauseIfDue(isSearching: radio.isSearchingForTrain, at: loop.now) { reconcileRadio() }
        return true
    }

    /// Sends the controller the command that is due, once the radio has paused.
    func reconcilePrivacy() {
        guard pauseForPrivacy() else { return }
        let command = privacy.nextCommand(
            radio: radioActivity, isSearching: radio.isSearchingForTrain, at: loop.now,
            newAddress: newPrivateAddress)
        if let command { submit(command, of: .privacy(privacy.lastCommand)) }
        takePrivacyEvents()
        armPrivacy()
    }

    /// Handles the controller's answer to the privacy machine's command, or the lack of one.
    func privacyAnswered(_ answer: CommandAnswer, to number: UInt64) {
        privacy.answered(answer, to: number, at: loop.now)
        reconcilePrivacy()
    }

    /// Resumes a change of addresses that waits for the radio, after the radio has changed.
    func resumePrivacy() {
        guard privacy.awaitsRadio else { return }
        // The code that has changed the radio may change it further.
        loop.execute { [weak self] in self?.assumeIsolated { $0.reconcilePrivacy() } }
    }

    /// Sets the timer to the deadline of `privacy`, or stops it once the adapter has ended.
    func armPrivacy() { privacyTimer?.set(end == nil ? privacy.deadline : nil) }

    /// Handles an expired deadline. While the controller is being recovered nothing can be done: that follows
    /// the recovery.
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
        case .log(let line): log.debug("\(line)")
        case .warning(let line): log.warning("\(line)")
        case .resumed, .trustEnded, .gaveUpList: break
        }
    }

    /// Pauses scanning, advertising and initiating, or lets them resume.
    private func reconcileRadio() {
        settle()
        reconcileAdvertising()
    }

    private var radioActivity: Privacy.RadioActivity {
        if radio.isScanQuiet, advertiser.isQuiet, radio.isInitiatorQuiet { return .quiet }
        return radio.isScanChanging || advertiser.isChanging || !radio.isInitiatorQuiet ? .changing : .on
    }

    private func newPrivateAddress() -> DeviceAddress {
        .resolvable(
            .random(in: .min ... .max, using: &random),
            key: SecurityManager.aes128(key: localIdentity.identityKey))
    }
}
