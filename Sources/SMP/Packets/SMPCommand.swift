import BLECore

/// A packet of the Security Manager Protocol (Core Specification 5.4, Vol 3, Part H, 3.3). Keys and other
/// 128-bit values are numbers, which are sent least significant octet first.
package enum SMPCommand: Hashable, Sendable {
    /// Requests pairing from the peripheral (3.5.1).
    case pairingRequest(PairingFeatures)
    /// Accepts the pairing, with the responder's features (3.5.2).
    case pairingResponse(PairingFeatures)
    /// Commits to a random number (3.5.3).
    case pairingConfirm(UInt128)
    /// Reveals the random number to which the confirm value committed (3.5.4).
    case pairingRandom(UInt128)
    /// Reports that the pairing has failed, with the reason (3.5.5).
    case pairingFailed(PairingFailureReason)
    /// The long term key, in legacy pairing (3.6.2).
    case encryptionInformation(longTermKey: UInt128)
    /// The EDIV and Rand values that identify the long term key, in legacy pairing (3.6.3).
    case centralIdentification(ediv: UInt16, random: UInt64)
    /// The identity resolving key (3.6.4).
    case identityInformation(identityResolvingKey: UInt128)
    /// The identity address, which is public or static random (3.6.5).
    case identityAddressInformation(DeviceAddress)
    /// The connection signature resolving key (3.6.6).
    case signingInformation(signatureKey: UInt128)
    /// Requests encryption or pairing from the central (3.6.7).
    case securityRequest(AuthenticationRequirements)
    /// The public key, in LE Secure Connections (3.5.6).
    case pairingPublicKey(PairingPublicKey)
    /// Proves that both devices have the same Diffie-Hellman key (3.5.7).
    case pairingDHKeyCheck(UInt128)
    /// Reports an event of the user's passkey entry (3.5.8).
    case pairingKeypressNotification(KeypressNotification)
}

extension SMPCommand {
    /// The code of the PDU.
    package var code: SMPCode {
        switch self {
        case .pairingRequest: .pairingRequest
        case .pairingResponse: .pairingResponse
        case .pairingConfirm: .pairingConfirm
        case .pairingRandom: .pairingRandom
        case .pairingFailed: .pairingFailed
        case .encryptionInformation: .encryptionInformation
        case .centralIdentification: .centralIdentification
        case .identityInformation: .identityInformation
        case .identityAddressInformation: .identityAddressInformation
        case .signingInformation: .signingInformation
        case .securityRequest: .securityRequest
        case .pairingPublicKey: .pairingPublicKey
        case .pairingDHKeyCheck: .pairingDHKeyCheck
        case .pairingKeypressNotification: .pairingKeypressNotification
        }
    }
}

extension SMPCommand: PacketCodable {
    package static var packetName: String { "SMP packet" }

    /// Reads one packet. A code that is reserved for future use is an invalid value of the field "code".
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let code = SMPCode(rawValue: try reader.u8("code"))
        switch code {
        case .pairingRequest: self = .pairingRequest(try PairingFeatures(decoding: &reader))
        case .pairingResponse: self = .pairingResponse(try PairingFeatures(decoding: &reader))
        case .pairingConfirm: self = .pairingConfirm(try reader.u128("confirm value"))
        case .pairingRandom: self = .pairingRandom(try reader.u128("random value"))
        case .pairingFailed:
            self = .pairingFailed(PairingFailureReason(rawValue: try reader.u8("reason")))
        case .encryptionInformation:
            self = .encryptionInformation(longTermKey: try reader.u128("long term key"))
        case .centralIdentification:
            self = .centralIdentification(ediv: try reader.u16("EDIV"), random: try reader.u64("Rand"))
        case .identityInformation:
            self = .identityInformation(identityResolvingKey: try reader.u128("identity resolving key"))
        case .identityAddressInformation:
            let type = try reader.u8("address type")
            guard let type = DeviceAddress.AddressType(rawValue: type) else {
                throw reader.invalid("address type", value: type, width: 1)
            }
            self = .identityAddressInformation(DeviceAddress(try reader.u48("address"), type: type))
        case .signingInformation: self = .signingInformation(signatureKey: try reader.u128("signature key"))
        case .securityRequest:
            self = .securityRequest(AuthenticationRequirements(rawValue: try reader.u8("AuthReq")))
        case .pairingPublicKey: self = .pairingPublicKey(try PairingPublicKey(decoding: &reader))
        case .pairingDHKeyCheck: self = .pairingDHKeyCheck(try reader.u128("DHKey check"))
        case .pairingKeypressNotification:
            self = .pairingKeypressNotification(
                KeypressNotification(rawValue: try reader.u8("notification type")))
        default: throw reader.invalid("code", value: code.rawValue, width: 1)
        }
    }

    /// The size of the packet in octets, 2 to 65.
    package var encodedCount: Int { code.octets ?? 1 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(code.rawValue)
        switch self {
        case .pairingRequest(let features), .pairingResponse(let features): features.encode(into: &output)
        case .pairingFailed(let reason): output.u8(reason.rawValue)
        case .securityRequest(let requirements): output.u8(requirements.rawValue)
        case .pairingKeypressNotification(let notification): output.u8(notification.rawValue)
        case .pairingPublicKey(let key): key.encode(into: &output)
        case .centralIdentification(let ediv, let random):
            output.u16(ediv)
            output.u64(random)
        case .identityAddressInformation(let address):
            output.u8(address.type.rawValue)
            output.u48(address.value)
        case .pairingConfirm(let value), .pairingRandom(let value), .encryptionInformation(let value),
            .identityInformation(let value), .signingInformation(let value), .pairingDHKeyCheck(let value):
            output.u128(value)
        }
    }
}
