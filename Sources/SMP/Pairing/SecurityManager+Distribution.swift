import BLECore

/// Phase 3: keys, on an encrypted link only (Core Specification 5.4, Vol 3, Part H, 2.4.3 and 3.6.1).
extension SecurityManager {
    /// The link is encrypted. The responder's keys go first.
    mutating func distributeKeys(at now: Instant) {
        guard let pairing else { return }
        self.pairing?.step = .keys
        if pairing.isSecureConnections {
            self.pairing?.bond.centralKey = pairing.linkKey
            self.pairing?.bond.peripheralKey = pairing.linkKey
        }
        timer = now + .seconds(30)
        if role == .peripheral || pairing.distribution.toTake.isEmpty { sendKeys(at: now) }
        finishIfDone()
    }

    mutating func receiveKey(_ command: SMPCommand, at now: Instant) {
        guard pairing?.step == .keys, pairing?.distribution.toTake.first == command.code else {
            refuse(command.code, .unspecifiedReason, at: now)
            return
        }
        pairing?.distribution.toTake.removeFirst()
        switch command {
        case .encryptionInformation(let key): pairing?.key = key
        case .centralIdentification(let ediv, let random):
            guard let pairing else { return }
            self.pairing?.bond.centralKey = LongTermKey(
                pairing.shortened(pairing.key), ediv: ediv, random: random, size: pairing.keySize)
        case .identityInformation(let key):
            // Zero stands for a device that has no resolvable addresses.
            pairing?.bond.peerIdentityKey = key == 0 ? nil : key
        case .identityAddressInformation(let address):
            guard address.kind == .public || address.kind == .static else {
                fail(.invalidParameters, at: now)
                return
            }
            pairing?.bond.peer = address
        case .signingInformation(let key): pairing?.bond.peerSigningKey = key
        default: break
        }
        if role == .central, pairing?.distribution.toTake.isEmpty == true { sendKeys(at: now) }
        finishIfDone()
    }

    private mutating func sendKeys(at now: Instant) {
        guard let pairing else { return }
        let keys = pairing.distribution.toSend
        self.pairing?.distribution.hasSent = true
        if keys.contains(.encryption) {
            let ediv = UInt16(truncatingIfNeeded: random.next())
            // Zero and zero name the keys that have no name.
            let key = LongTermKey(
                pairing.shortened(random.number()), ediv: ediv, random: max(1, random.next()),
                size: pairing.keySize)
            self.pairing?.bond.peripheralKey = key
            send(.encryptionInformation(longTermKey: key.value), at: now)
            send(.centralIdentification(ediv: key.ediv, random: key.random), at: now)
        }
        if keys.contains(.identity) {
            send(.identityInformation(identityResolvingKey: identity.identityKey), at: now)
            send(.identityAddressInformation(identity.address), at: now)
        }
        if keys.contains(.signing) {
            let key = random.number()
            self.pairing?.bond.localSigningKey = key
            send(.signingInformation(signatureKey: key), at: now)
        }
    }

    /// The pairing is done when the peer's last key has come and ours has left.
    mutating func finishIfDone() {
        guard let pairing, pairing.step == .keys, pairing.distribution.isDone, outbox.isEmpty else { return }
        self.pairing = nil
        timer = nil
        attempts.succeed()
        if pairing.isBonding { policy.existing = pairing.bond.strength }
        events.append(.paired(pairing.bond, isBonding: pairing.isBonding))
    }
}
