import BLECore

extension SecurityManager {
    /// Begins: the central sends Pairing Request, the peripheral Security Request, for which the central
    /// encrypts with the key of a bond, pairs, or does nothing. The end is `.paired` or `.failed`.
    package mutating func begin(
        _ wanted: PairingRequirements, at now: Instant
    ) throws(PairingImpossible) {
        guard toolbox != nil else { throw .unsupported }
        guard !hasTimedOut else { throw .timedOut }
        guard !isPairing, role == .central || securityRequest == nil else { throw .busy }
        let demand = policy.demand(wanted)
        // The central may have no more to do than to encrypt with the key that there is.
        let isMetByBond = role == .peripheral && policy.existing?.isWeaker(than: demand) == false
        guard isMetByBond || policy.canMeet(demand) else { throw .requirements }
        if let end = attempts.wait(at: now) { throw .repeatedAttempts(until: end) }
        switch role {
        case .central:
            securityRequest = nil
            var negotiation = Negotiation(.response, policy, demand)
            let asks = policy.asksForOutOfBandData && negotiation.outOfBandData == nil
            if asks { negotiation.step = .outOfBand }
            self.negotiation = negotiation
            timer = now + .seconds(30)
            if asks { events.append(.outOfBandWanted) } else { sendRequest(at: now) }
        case .peripheral:
            securityRequest = wanted
            let features = Negotiation(.acceptance, policy, demand).initiatorFeatures()
            send(.securityRequest(features.authentication), at: now)
        }
    }

    /// Says what an event asked for.
    package mutating func answer(_ answer: PairingAnswer, at now: Instant) {
        switch answer {
        case .accept where negotiation?.step == .acceptance: accept(at: now)
        case .accept where pairing?.step == .consent: startAuthentication(at: now)
        case .refuse(let reason) where isPairing: fail(reason, at: now)
        case .refuse(let reason) where role == .central && securityRequest != nil:
            securityRequest = nil
            // In one place: a peer that takes nothing and asks on must not fill the memory.
            refusal.refuse(.securityRequest, reason)
        case .outOfBand(let data) where negotiation?.step == .outOfBand:
            negotiation?.outOfBandData = data
            role == .central ? sendRequest(at: now) : sendResponse(at: now)
        case .passkey(let passkey): enter(passkey, at: now)
        case .comparison(let isSame) where pairing?.step == .comparison:
            if isSame { exchangeChecks(at: now) } else { fail(.numericComparisonFailed, at: now) }
        default: break
        }
    }

    /// Notifies the peer that the user presses keys, if both ends want that (3.5.8).
    package mutating func press(_ key: KeypressNotification, at now: Instant) {
        guard let pairing, pairing.passkey == nil, pairing.reportsKeypresses(of: role),
            pairing.step != .publicKey, pairing.step != .consent
        else { return }
        send(.pairingKeypressNotification(key), at: now)
    }

    private mutating func accept(at now: Instant) {
        guard let negotiation else { return }
        if negotiation.policy.asksForOutOfBandData, negotiation.outOfBandData == nil {
            self.negotiation?.step = .outOfBand
            events.append(.outOfBandWanted)
        } else {
            sendResponse(at: now)
        }
    }

    private mutating func sendRequest(at now: Instant) {
        guard let request = negotiation?.initiatorFeatures() else { return }
        negotiation?.request = request
        negotiation?.step = .response
        send(.pairingRequest(request), at: now)
    }

    private mutating func sendResponse(at now: Instant) {
        guard let negotiation, let request = negotiation.request else { return }
        let response = negotiation.responderFeatures(to: request)
        // What cannot do is known before the initiator is led on.
        if let reason = refusalOfFeatures(request, response, negotiation) {
            fail(reason, at: now)
            return
        }
        send(.pairingResponse(response), at: now)
        agree(request, response, negotiation, at: now)
    }
}
