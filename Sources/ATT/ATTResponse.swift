import BLECore

/// How a server answers a request (Core Specification 5.4, Vol 3, Part F, 3.4).
package enum ATTResponse: Hashable, Sendable {
    /// The request was refused (3.4.1.1).
    case error(ATTErrorResponse)
    /// The server's receive MTU (3.4.2.2).
    case exchangeMTU(UInt16)
    /// Handles with their types, all UUIDs of one width (3.4.3.2).
    case findInformation(ATTEntryList<ATTInformation>)
    /// Where the attributes are that matched, and where their groups end (3.4.3.4).
    case findByTypeValue(ATTEntryList<ATTHandlesInformation>)
    /// Handles with their values, all of one length (3.4.4.2).
    case readByType(ATTEntryList<ATTAttributeData>)
    /// A value, or its beginning when it fills the PDU (3.4.4.4).
    case read([UInt8])
    /// A part of a value (3.4.4.6).
    case readBlob([UInt8])
    /// Values joined without a trace of where each ends (3.4.4.8).
    case readMultiple([UInt8])
    /// Groups with their values, all of one length (3.4.4.10).
    case readByGroupType(ATTEntryList<ATTGroupData>)
    /// Values with their lengths (3.4.4.12).
    case readMultipleVariable(ATTTupleList<ATTLengthValue>)
    /// The value is written (3.4.5.2).
    case write
    /// The part is queued; an echo of the request (3.4.6.2).
    case prepareWrite(AttributeHandle, offset: UInt16, value: [UInt8])
    /// The queue is written or forgotten (3.4.6.4).
    case executeWrite
}

/// Which request was refused, over which attribute, and why (Core Specification 5.4, Vol 3, Part F,
/// 3.4.1.1).
public struct ATTErrorResponse: Error, Hashable, Sendable {
    /// The opcode of the request.
    public var requestOpcode: ATTOpcode
    /// The attribute in error, or `.none` when the error is not about one.
    public var handle: AttributeHandle
    /// The error code: why the server refuses the request.
    public var code: ATTErrorCode

    /// A refusal of the request with `requestOpcode`.
    @inlinable
    package init(_ requestOpcode: ATTOpcode, _ handle: AttributeHandle, _ code: ATTErrorCode) {
        self.requestOpcode = requestOpcode
        self.handle = handle
        self.code = code
    }
}

extension ATTErrorResponse: CustomStringConvertible {
    /// `Read Request of 0x0003: Read Not Permitted (0x02)`.
    public var description: String {
        handle == .none ? "\(requestOpcode): \(code)" : "\(requestOpcode) of \(handle): \(code)"
    }
}

extension ATTResponse {
    package var opcode: ATTOpcode {
        switch self {
        case .error: .errorResponse
        case .exchangeMTU: .exchangeMTUResponse
        case .findInformation: .findInformationResponse
        case .findByTypeValue: .findByTypeValueResponse
        case .readByType: .readByTypeResponse
        case .read: .readResponse
        case .readBlob: .readBlobResponse
        case .readMultiple: .readMultipleResponse
        case .readByGroupType: .readByGroupTypeResponse
        case .readMultipleVariable: .readMultipleVariableResponse
        case .write: .writeResponse
        case .prepareWrite: .prepareWriteResponse
        case .executeWrite: .executeWriteResponse
        }
    }
}
