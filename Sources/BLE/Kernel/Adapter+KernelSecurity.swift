import BLECore
import GATTServer
import HCI
import HCISocket
import Logging
import SMP
import SystemPackage

extension Adapter {
    /// Raises the security of a link that the kernel has to `level`: with the key of a bond, else by pairing, in
    /// which the kernel's questions go to this host's delegate, or to bluetoothd. Returns when the link has it, and a
    /// pairing its keys.
    ///
    /// A link whose security could not be raised is of no use: the kernel takes nothing for it any more. So it is
    /// ended. Connecting again at once is possible.
    func raise(
        _ id: LinkID, on channel: L2CAPChannel, to level: SecurityLevel
    ) async throws(BLEError) {
        let link = try link(id)
        try await link.elevation.enter(self, of: id, at: \.elevation)
        defer { link.elevation.leave() }
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

    private func secured(
        _ id: LinkID, _ channel: L2CAPChannel, _ level: SecurityLevel
    ) async throws(BLEError) {
        try await waitForKernel(on: id) { () throws(BLEError) in
            do throws(PortError) {
                try channel.port.require(level)
                if kernelPairing?.isSetUp == true, let link = links[id], link.role == .central,
                    link.protection.bond == nil
                {
                    // Before 5.7, Linux asks nothing in a pairing that it begins where nothing is to be shown
                    // or entered.
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
        try await securings.wait(in: self) { adapter, id in
            adapter.securings.resume(id, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            _ = try link(id)
            try begin()
            return id
        }
    }

    /// Ends a link on which nothing more can be sent, with this error. Where a Disconnect command carries `cause`, the
    /// kernel does not keep the link for the next connection.
    func fail(_ link: Link, _ error: BLEError, _ cause: DisconnectCause = .userTerminated) {
        guard links[link.id] != nil, link.closing == nil else { return }
        link.closing = error
        link.end(error)
        endProcedures(of: link, error)
        end(link, cause)
    }
}

// MARK: - What becomes of it

extension Adapter {
    /// A link's socket takes packets again: what the kernel did for its security is done.
    func socketWritable(_ id: LinkID) {
        noteSecurity(of: id)
        securings.resume(id, with: .success(()))
        if let link = links[id] { pump(link) }
    }

    /// A pairing has failed; the kernel reports no more than `status`.
    func kernelPairingFailed(_ link: Link, _ status: ManagementStatus) {
        log.info("pairing with \(link.peer) failed: \(status)")
        link.protection.kernelPairingFailed()
        securings.resume(link.id, with: .failure(.kernelPairing(status)))
    }

    /// The controller has reported a link's encryption. The kernel acts on it after this event and before the next one
    /// on the raw socket: the answer to any command shows that it has.
    func kernelEncryptionChanged(_ connection: ConnectionHandle, _ status: HCIStatus) {
        guard let link = linkOfHandle[connection].flatMap({ links[$0] }) else { return }
        let id = link.id
        switch status {
        case .success:
            kernelPairing?.encrypted(link.peer, at: loop.now)
            loadOwedKeys()
            Task(executorPreference: loop) {
                await self.sendTolerant(ReadRSSI(connection: connection))
                await self.noteSecurity(of: id)
            }
        // The kernel ends the link.
        case .pinOrKeyMissing:
            link.protection.bondLost()
            protect(link)
            securings.resume(id, with: .failure(.bondLost(link.peer)))
        default: securings.resume(id, with: .failure(.encryption(status)))
        }
    }

    private func noteSecurity(of id: LinkID) {
        if let link = links[id] { noteSecurity(of: link) }
    }

    /// Looks at what the kernel says of a link's encryption.
    func noteSecurity(of link: Link) {
        guard let security = kernelSecurity(of: link) else { return }
        link.protection.found(security)
        protect(link)
    }

    /// What the kernel says of a link's encryption; nil for links of ours, and while the kernel raises it.
    func kernelSecurity(of link: Link) -> LinkSecurity? { currentSecurity(of: link)?() }

    /// Asks the kernel for a link's security; nil for links of ours, whose changes are events. While the kernel raises
    /// it, it reports the level that it was asked for, with a key size of 0. Encryption with a key that is shorter than
    /// the least that this host takes is worth nothing: the kernel takes keys of 7 octets.
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

    /// The server may have asked for a link's security meanwhile, and found another one.
    func noteAskedSecurity(of link: Link) {
        guard case .socket = link.channel, let security = server.gatt.security(of: ClientID(link.id)),
            security != link.protection.servedSecurity
        else { return }
        noteSecurity(of: link)
    }
}

extension BLEError {
    /// Whether raising a link's security has come to an end after which the kernel takes nothing for the link.
    fileprivate var endsLink: Bool {
        switch self {
        case .kernelPairing, .pairing, .bondLost, .encryption: true
        default: false
        }
    }
}
