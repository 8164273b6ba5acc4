import BLECore
import GATTServer
import HCI
import HCISocket
import Logging
import SMP
import SystemPackage

extension Adapter {
    /// Raises the security of a kernel link to `level`: with the key of a bond, else by pairing. During
    /// pairing, the kernel's questions go to this host's delegate, or to bluetoothd. Returns when the link
    /// has reached the level, and the keys of a pairing are known.
    ///
    /// If the security cannot be raised, the kernel accepts no more data for the link, so the link is ended.
    /// A new connection can be established at once.
    func raise(
        _ id: LinkID, on channel: L2CAPChannel, to level: SecurityLevel
    ) async throws(BLEError) {
        let link = try link(id)
        let turn = try await enter(\.elevation, of: id)
        defer { turn.leave() }
        noteSecurity(of: link)
        guard !link.security.reaches(level) else { return }
        do throws(BLEError) {
            // The time limit of pairing (Core Specification 5.4, Vol 3, Part H, 3.4).
            try await withDeadline(.seconds(30), on: loop, orThrow: .pairing(.timeout)) {
                () throws(BLEError) in try await self.secured(id, channel, level)
            }
            noteSecurity(of: link)
            if link.security.reaches(level) { return await keysKnown(to: link) }
        } catch .disconnected(.status(.authenticationFailure)) {
            throw .encryption(.authenticationFailure)
        } catch {
            if error.endsLink { fail(link, error) }
            throw error
        }
        if let (_, keySize) = try? channel.port.security(), keySize < security.options.minimumKeySize {
            throw .pairing(.local(.encryptionKeySize))
        }
        throw .pairing(.local(.authenticationRequirements))
    }

    /// Encrypts a link to a bonded peripheral with the key of the bond, see `encryptIfBonded(_:)`. The kernel pairs
    /// with a device if it lacks the key, so it has to have the keys of the bonds.
    func encryptByKernel(_ id: LinkID) async throws(BLEError) {
        let link = try link(id)
        guard let bond = knownBond(of: link) else { return }
        guard link.role == .peripheral || bond.centralKey != nil else {
            throw .invalidRequest(.noEncryptionKey(link.peer))
        }
        try await manageKernelPairing()
        // Until the next load of the keys, the kernel may use another key for the device.
        guard link.protection.bond != nil else { throw .encryption(.controllerBusy) }
        do throws(BLEError) {
            try await secure(id, .encrypted)
        } catch {
            // The device does not answer, pairs in place of encrypting, or has refused before the reason was known.
            switch error {
            case .pairing(.timeout), .pairing(.local(.authenticationRequirements)), .kernelPairing,
                .encryption(.authenticationFailure), .encryption(.connectionTerminatedMICFailure),
                .disconnected(.status(.pinOrKeyMissing)),
                .disconnected(.status(.connectionTerminatedMICFailure)):
                throw .bondLost(link.peer)
            default: throw error
            }
        }
        guard link.security.isBonded else { throw .bondLost(link.peer) }
    }

    private func secured(
        _ id: LinkID, _ channel: L2CAPChannel, _ level: SecurityLevel
    ) async throws(BLEError) {
        try await waitForKernel(on: id) { () throws(BLEError) in
            do throws(PortError) {
                try channel.port.require(level)
                if kernelPairing?.isSetUp == true, let link = links[id], link.role == .central,
                    link.protection.bond == nil
                {
                    // Linux before 5.7 asks no question in a pairing that it starts, if nothing has to be
                    // displayed or entered.
                    kernelPairing?.begin(link.peer, at: loop.now)
                }
            } catch  where error.errno == .invalidArgument {
                throw .adapter(
                    .unsupported(.pairing))
            } catch {
                throw .port(error)
            }
        }
    }

    /// Waits for the keys of a pairing that has encrypted the link. The kernel sends no event for a pairing that
    /// distributes none, so the wait is short.
    private func keysKnown(to link: Link) async {
        let id = link.id
        guard kernelPairing?.isPairing(link.peer, at: loop.now) == true else { return }
        _ = try? await withDeadline(.seconds(2), on: loop, orThrow: .cancelled) { () throws(BLEError) in
            try await self.reportedKeys(of: id)
        }
    }

    private func reportedKeys(of id: LinkID) async throws(BLEError) {
        try await waitForKernel(on: id) { () throws(BLEError) in }
    }

    private func waitForKernel(
        on id: LinkID, _ begin: () throws(BLEError) -> Void
    ) async throws(BLEError) {
        try await waits.wait(in: self) { () throws(BLEError) in
            _ = try link(id)
            try begin()
            return .pending(.security(id))
        }
    }

    /// Ends, with this error, a link on which nothing more can be sent. If a Disconnect command carries
    /// `cause`, the kernel does not keep the link for the next connection.
    func fail(_ link: Link, _ error: BLEError, _ cause: DisconnectCause = .userTerminated) {
        guard links[link.id] != nil, link.closing == nil else { return }
        link.closing = error
        endCalls(on: link, error)
        end(link, cause)
    }
}

// MARK: - Outcomes

extension Adapter {
    /// Handles a link's socket that accepts packets again: the kernel has finished what it did for the link's
    /// security.
    func socketWritable(_ id: LinkID) {
        noteSecurity(of: id)
        waits.end(.security(id), .success(()))
        if let link = links[id] { pump(link) }
    }

    /// Handles a failed pairing, of which the kernel reports no more than `status`.
    func kernelPairingFailed(_ link: Link, _ status: ManagementStatus) {
        log.info("pairing with \(link.peer) failed: \(status)")
        link.protection.kernelPairingFailed()
        waits.end(.security(link.id), .failure(.kernelPairing(status)))
        reportPairingFailure(.kernelPairing(status), of: link)
    }

    /// Handles the controller's report of a link's encryption. The kernel processes the event after it was
    /// received here, and before the next one on the raw socket, so the answer to any command shows that it
    /// has.
    func kernelEncryptionChanged(_ connection: ConnectionHandle, _ status: HCIStatus) {
        guard let link = links[connection] else { return }
        let id = link.id
        switch status {
        case .success:
            kernelPairing?.encrypted(link.peer, at: loop.now)
            loadOwedKeys()
            sendTolerant(ReadRSSI(connection: connection), of: .kernelEncryption(id))
        // The kernel ends the link.
        case .pinOrKeyMissing:
            link.protection.bondLost()
            protect(link)
            waits.end(.security(id), .failure(.bondLost(link.peer)))
        default: waits.end(.security(id), .failure(.encryption(status)))
        }
    }

    func noteSecurity(of id: LinkID) {
        if let link = links[id] { noteSecurity(of: link) }
    }

    /// Reads the security of a link's encryption from the kernel, and applies it.
    func noteSecurity(of link: Link) {
        guard let security = kernelSecurity(of: link) else { return }
        let before = link.security
        link.protection.found(security)
        protect(link)
        dropValues(of: link, before: before)
    }

    /// Returns the security of a link's encryption as the kernel reports it; nil for links that this host
    /// encrypts itself, and while the kernel raises the security.
    func kernelSecurity(of link: Link) -> LinkSecurity? { currentSecurity(of: link)?() }

    /// Returns a closure that reads a link's security from the kernel; nil for links that this host encrypts
    /// itself, whose changes are events. While the kernel raises the security, it reports the requested level
    /// with a key size of 0, and the closure returns nil. Encryption with a key shorter than this host's
    /// minimum counts as none, because the kernel accepts keys of 7 octets.
    func currentSecurity(of link: Link) -> (@Sendable () -> LinkSecurity?)? {
        guard case .socket(let channel) = link.channel else { return nil }
        let isBonded = link.protection.isBonded
        let minimumKeySize = security.options.minimumKeySize
        return { [port = channel.port] in
            guard let (level, keySize) = try? port.security(), let level, level > .open else {
                return LinkSecurity.none
            }
            guard keySize > 0 else { return nil }
            guard keySize >= minimumKeySize else { return LinkSecurity.none }
            return LinkSecurity(level: level, keySize: keySize, isBonded: isBonded)
        }
    }

    /// Applies a link's security if the server has read it from the kernel meanwhile and found a different
    /// one.
    func noteAskedSecurity(of link: Link) {
        guard case .socket = link.channel, let security = server.gatt.security(of: ClientID(link.id)),
            security != link.protection.servedSecurity
        else { return }
        noteSecurity(of: link)
    }
}

extension BLEError {
    /// Whether this failure to raise a link's security leaves a link for which the kernel accepts no more
    /// data.
    fileprivate var endsLink: Bool {
        switch self {
        case .kernelPairing, .pairing, .bondLost, .encryption: true
        default: false
        }
    }
}
