import BLECore
import SMP

extension SMPCommand {
    /// The fields of the packet. They include keys, because the recording itself contains them.
    var fields: DecodedFields {
        switch self {
        case .pairingRequest(let features), .pairingResponse(let features): features.fields
        case .pairingConfirm(let value): ["confirm": .key(value)]
        case .pairingRandom(let value): ["random": .key(value)]
        case .pairingFailed(let reason): ["reason": .name(reason)]
        case .encryptionInformation(let key): ["longTermKey": .key(key)]
        case .centralIdentification(let ediv, let random):
            ["ediv": .number(Int(ediv)), "random": .text(random.hex)]
        case .identityInformation(let key): ["identityResolvingKey": .key(key)]
        case .identityAddressInformation(let address): ["address": .name(address)]
        case .signingInformation(let key): ["signatureKey": .key(key)]
        case .securityRequest(let requirements): ["authentication": .fields(requirements.fields)]
        case .pairingPublicKey(let key):
            ["x": .text(key.x.high.hex + key.x.low.hex), "y": .text(key.y.high.hex + key.y.low.hex)]
        case .pairingDHKeyCheck(let value): ["check": .key(value)]
        case .pairingKeypressNotification(let notification): ["type": .number(Int(notification.rawValue))]
        }
    }
}

extension PairingFeatures {
    fileprivate var fields: DecodedFields {
        [
            "ioCapability": .name(ioCapability), "oobData": .bool(oobData == .present),
            "authentication": .fields(authentication.fields), "maximumKeySize": .number(Int(maximumKeySize)),
            "initiatorKeys": .fields(initiatorKeys.fields), "responderKeys": .fields(responderKeys.fields),
        ]
    }
}

extension AuthenticationRequirements {
    fileprivate var fields: DecodedFields {
        [
            "bonding": .bool(contains(.bonding)), "mitm": .bool(contains(.mitm)),
            "secureConnections": .bool(contains(.secureConnections)), "keypress": .bool(contains(.keypress)),
            "ct2": .bool(contains(.ct2)),
        ]
    }
}

extension KeyDistribution {
    fileprivate var fields: DecodedFields {
        [
            "encryption": .bool(contains(.encryption)), "identity": .bool(contains(.identity)),
            "signing": .bool(contains(.signing)), "link": .bool(contains(.link)),
        ]
    }
}
