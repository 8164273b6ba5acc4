import BLECore
import HCI
import HCISocket
import Logging

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
        privacy.list.wasReset(capacity: canResolve ? capabilities.resolvingListSize : 0)
        try await listPeers()
        privacy.retry = nil
        if privacy.options.isEnabled { try await renewAddress() }
        watchBonds()
    }

    /// Whether the controller resolves addresses, and lets peers also show their identity, as many do that have given
    /// their key (Core Specification 5.4, Vol 6, Part B, 6.1.4). Without that they would not be heard.
    private var canResolve: Bool {
        capabilities.features.contains(.privacy) && capabilities.commands.contains(.leSetPrivacyMode)
    }

    /// Makes a new address when one is due, and has the controller know the peers that it should. One run at a time;
    /// what changes meanwhile is seen at its end.
    func reconcilePrivacy() {
        guard kernel == nil, end == nil, !privacy.isChanging, !recovery.isUnderWay, privacy.retry == nil,
            privacy.isAddressDue(at: loop.now) || isListDue
        else { return }
        privacy.isChanging = true
        Task(executorPreference: loop) { await self.changePrivacy() }
    }

    /// Whether the list is to be changed, and can: not while the controller looks for a periodic train.
    private var isListDue: Bool { privacy.list.contents != wantedPeers && !synchronizer.isSearching }

    /// The peers that the controller should know.
    private var wantedPeers: [DeviceAddress: PeerKeyList.Keys] {
        guard privacy.list.capacity > 0 else { return [:] }
        return privacy.list.wanted(
            security.options.bonds.records(at: identity),
            local: privacy.options.isEnabled ? localIdentity.identityKey : 0)
    }

    private func changePrivacy() async {
        reconcileRadio()
        var isDone = false
        if await radioIsQuiet() {
            do throws(BLEError) {
                if isListDue { try await listPeers() }
                if privacy.isAddressDue(at: loop.now) { try await renewAddress() }
                isDone = true
            } catch {
                log.warning("cannot change who this host and its peers are: \(error)")
            }
        } else {
            log.info("the radio does not pause")
        }
        privacy.isChanging = false
        // What brings the controller back does all anew.
        if !isDone, !recovery.isUnderWay { privacy.retry = loop.now + Self.secondTry }
        reconcileRadio()
        reconcileTrains()
        lookAgain()
        reconcilePrivacy()
        armPrivacy()
        changed()
    }

    /// How long until the radio is asked to pause again.
    private static let secondTry = Duration.seconds(10)

    /// Sets the timer.
    func armPrivacy() { privacyTimer?.set(end == nil ? privacy.deadline : nil) }

    /// Time has passed. While the controller is brought back nothing can be done: that comes after it.
    func expirePrivacy() {
        guard !recovery.isUnderWay else { return }
        let now = loop.now
        if let retry = privacy.retry, retry <= now { privacy.retry = nil }
        if let trustEnd = privacy.trustEnd, trustEnd <= now {
            privacy.trustEnd = nil
            helpController()
        }
        reconcilePrivacy()
        armPrivacy()
    }

    /// Keeps everything off the air that listens or can be called, or lets it go on.
    private func reconcileRadio() {
        reconcileScan()
        reconcileAdvertising()
        reconcileConnecting()
    }

    /// Waits until nothing is on air that listens or can be called; false when that does not come.
    private func radioIsQuiet() async -> Bool {
        while end == nil, !recovery.isUnderWay {
            let isQuiet =
                scanner.isQuiet && advertiser.isQuiet && initiator.isQuiet
            if isQuiet { return true }
            // Something changes, or its command is not answered, which brings the controller back.
            guard
                scanner.isChanging || advertiser.isChanging || !initiator.isQuiet, await radioChange()
            else { return false }
        }
        return false
    }

    /// Puts another address on air.
    private func renewAddress() async throws(BLEError) {
        let key = AES128(key: localIdentity.identityKey)
        let address = DeviceAddress.resolvable(.random(in: .min ... .max), key: key)
        _ = try await send(LESetRandomAddress(address: address), isSetup: recovery.isUnderWay)
        log.info("hiding behind \(address)")
        privacy.own = address
        privacy.ownEnd = loop.now + privacy.options.addressLifetime
        armPrivacy()
    }

    /// Has the controller know the peers that it should. One that refuses is not asked again: the host knows them, too.
    private func listPeers() async throws(BLEError) {
        let wanted = wantedPeers
        guard privacy.list.contents != wanted else { return }
        let isEmpty = privacy.list.contents?.isEmpty ?? false
        privacy.list.begin()
        do throws(BLEError) {
            if !isEmpty {
                try await tellPeers(LESetAddressResolutionEnable(enable: false))
                try await tellPeers(LEClearResolvingList())
            }
            let listed = try await add(wanted)
            if !listed.isEmpty { try await tellPeers(LESetAddressResolutionEnable(enable: true)) }
            privacy.list.settle(listed)
        } catch .hci(let status, let command) where status != .operationCancelledByHost {
            // While something is on air that this host does not know of: later.
            if status == .commandDisallowed, !recovery.isUnderWay { throw .hci(status, command: command) }
            log.info("\(command): \(status); private addresses are resolved by the host alone")
            await sendTolerant(LESetAddressResolutionEnable(enable: false))
            privacy.list.giveUp()
        } catch {
            throw error
        }
    }

    /// Adds peers to the empty list, as many as go; what is on it then.
    private func add(
        _ wanted: [DeviceAddress: PeerKeyList.Keys]
    ) async throws(BLEError) -> [DeviceAddress: PeerKeyList.Keys] {
        var listed: [DeviceAddress: PeerKeyList.Keys] = [:]
        for (peer, keys) in wanted {
            let name = HCIAddress(peer)
            do throws(BLEError) {
                try await tellPeers(
                    LEAddDeviceToResolvingList(peer: name, peerKey: keys.peer, localKey: keys.local))
            } catch .hci(.memoryCapacityExceeded, _) {
                privacy.list.shrink(to: listed.count)
                break
            } catch {
                throw error
            }
            try await tellPeers(LESetPrivacyMode(peer: name, mode: .device))
            listed[peer] = keys
        }
        return listed
    }

    private func tellPeers<Command: HCICommand>(_ command: Command) async throws(BLEError) {
        _ = try await send(command, isSetup: recovery.isUnderWay)
    }
}
