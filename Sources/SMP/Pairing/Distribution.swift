import BLECore

/// Which keys are still to come, and whether ours have gone (Core Specification 5.4, Vol 3, Part H, 3.6.1).
struct Distribution: Sendable {
    /// Packets that the peer shall send, in order.
    var toTake: [SMPCode]
    /// Keys that this host shall send.
    let toSend: KeyDistribution
    var hasSent = false

    init(
        _ role: LinkRole, _ request: PairingFeatures, _ response: PairingFeatures,
        isSecureConnections: Bool
    ) {
        var allowed: KeyDistribution = [.encryption, .identity, .signing]
        if isSecureConnections { allowed.remove(.encryption) }
        let initiator = request.initiatorKeys.intersection(response.initiatorKeys).intersection(allowed)
        let responder = request.responderKeys.intersection(response.responderKeys).intersection(allowed)
        toSend = role == .central ? initiator : responder
        toTake = (role == .central ? responder : initiator).packets
    }

    var isDone: Bool { toTake.isEmpty && hasSent }
}

extension KeyDistribution {
    fileprivate var packets: [SMPCode] {
        (contains(.encryption) ? [.encryptionInformation, .centralIdentification] : [])
            + (contains(.identity) ? [.identityInformation, .identityAddressInformation] : [])
            + (contains(.signing) ? [.signingInformation] : [])
    }
}
