import HCI

/// What the ends of a connection send each other to encrypt it (Core Specification 5.4, Vol 6, Part B, 5.1.3).
/// The key itself never is on air; `proof` is what only its owner can make.
package enum EncryptionSignal: Hashable, Sendable {
    /// LL_ENC_REQ: what names the key, and the central's half of the session key diversifier.
    case request(random: UInt64, diversifier: UInt16, half: UInt64)
    /// LL_ENC_RSP: the peripheral's half of the session key diversifier.
    case response(half: UInt64)
    /// LL_START_ENC_REQ, sent by the peripheral once its host has given the key.
    case start
    /// LL_START_ENC_RSP, the first packet of each end that is encrypted. The proof stands for its MIC.
    case started(proof: UInt128)
    /// LL_PAUSE_ENC_REQ, sent by the central before an encrypted link gets a new key.
    case pause
    /// LL_PAUSE_ENC_RSP, sent by the peripheral and then by the central.
    case paused
    /// LL_REJECT_EXT_IND or LL_REJECT_IND in answer to LL_ENC_REQ.
    case rejected(HCIStatus)
}

extension LinkSignal {
    /// Whether it may be sent while encryption is started or paused.
    var passesEncryption: Bool {
        switch self {
        case .encryption, .terminate, .established, .acknowledged, .silence: true
        default: false
        }
    }
}
