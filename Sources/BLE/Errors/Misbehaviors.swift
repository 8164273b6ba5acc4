import ATT
import BLECore
import GATTClient

extension BLEError {
    /// How a peer violated the specification.
    public enum PeerMisbehavior: Hashable, Sendable {
        /// The peer's server answered a procedure's request with this opcode in a way that violates the
        /// specification.
        case answer(to: ATTOpcode, Misbehavior)
        /// The peer answered a request with a PDU that is not a response to it.
        case unexpectedResponse(ATTOpcode, to: ATTOpcode)
        /// It answered the second request with an Error Response that names the first one.
        case foreignError(about: ATTOpcode, to: ATTOpcode)
        /// The response cannot be decoded.
        case malformedResponse(DecodeError)
        /// The value of an attribute is malformed for its type.
        case malformedValue(DecodeError)
        /// The characteristic notifies or indicates, but has no Client Characteristic Configuration.
        case missingConfiguration(BluetoothUUID)
        /// The peer's database changed during each of three discoveries.
        case restlessDatabase
    }

    /// How a controller violated the specification in its answer to a command.
    public enum ControllerMisbehavior: Hashable, Sendable {
        /// The controller's answer is too short to have a status.
        case missingStatus
        /// The return parameters of the answer cannot be decoded.
        case malformed(DecodeError)
    }
}

extension BLEError.PeerMisbehavior: CustomStringConvertible {
    /// The text after "the peer misbehaves: " in the description of the error.
    public var description: String {
        switch self {
        case .answer(let request, let how): "answer to \(request): \(how)"
        case .unexpectedResponse(let response, let request): "it answered \(request) with \(response)"
        case .foreignError(let named, let request): "it answered \(request) with an error about \(named)"
        case .malformedResponse(let error), .malformedValue(let error): "\(error)"
        case .missingConfiguration(let uuid):
            "characteristic \(uuid) has no Client Characteristic Configuration"
        case .restlessDatabase: "its database changed during each discovery"
        }
    }
}

extension BLEError.ControllerMisbehavior: CustomStringConvertible {
    /// The text after "the controller misbehaves: " in the description of the error.
    public var description: String {
        switch self {
        case .missingStatus: "an answer without status"
        case .malformed(let error): "\(error)"
        }
    }
}
