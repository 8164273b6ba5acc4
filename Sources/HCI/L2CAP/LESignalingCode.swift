import BLECore

/// The kind of a packet on the signaling channels (Core Specification 5.4, Vol 3, Part A, 4, table 4.2).
package struct LESignalingCode: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The L2CAP_COMMAND_REJECT_RSP packet, section 4.1.
    package static let commandReject = LESignalingCode(rawValue: 0x01)
    /// The L2CAP_DISCONNECTION_REQ packet, section 4.6.
    package static let disconnectionRequest = LESignalingCode(rawValue: 0x06)
    /// The L2CAP_DISCONNECTION_RSP packet, section 4.7.
    package static let disconnectionResponse = LESignalingCode(rawValue: 0x07)
    /// The L2CAP_CONNECTION_PARAMETER_UPDATE_REQ packet, section 4.20.
    package static let connectionParameterUpdateRequest = LESignalingCode(rawValue: 0x12)
    /// The L2CAP_CONNECTION_PARAMETER_UPDATE_RSP packet, section 4.21.
    package static let connectionParameterUpdateResponse = LESignalingCode(rawValue: 0x13)
    /// The L2CAP_LE_CREDIT_BASED_CONNECTION_REQ packet, section 4.22.
    package static let leCreditBasedConnectionRequest = LESignalingCode(rawValue: 0x14)
    /// The L2CAP_LE_CREDIT_BASED_CONNECTION_RSP packet, section 4.23.
    package static let leCreditBasedConnectionResponse = LESignalingCode(rawValue: 0x15)
    /// The L2CAP_FLOW_CONTROL_CREDIT_IND packet, section 4.24.
    package static let flowControlCredit = LESignalingCode(rawValue: 0x16)
    /// The L2CAP_CREDIT_BASED_CONNECTION_REQ packet, section 4.25.
    package static let creditBasedConnectionRequest = LESignalingCode(rawValue: 0x17)
    /// The L2CAP_CREDIT_BASED_CONNECTION_RSP packet, section 4.26.
    package static let creditBasedConnectionResponse = LESignalingCode(rawValue: 0x18)
    /// The L2CAP_CREDIT_BASED_RECONFIGURE_REQ packet, section 4.27.
    package static let creditBasedReconfigureRequest = LESignalingCode(rawValue: 0x19)
    /// The L2CAP_CREDIT_BASED_RECONFIGURE_RSP packet, section 4.28.
    package static let creditBasedReconfigureResponse = LESignalingCode(rawValue: 0x1a)
}

extension LESignalingCode: CustomStringConvertible {
    /// The name of the packet, "Command Reject", or the code, "0x60".
    package var description: String { Self.names[self] ?? "0x" + rawValue.hex }

    private static let names: [LESignalingCode: String] = [
        .commandReject: "Command Reject",
        .disconnectionRequest: "Disconnection Request",
        .disconnectionResponse: "Disconnection Response",
        .connectionParameterUpdateRequest: "Connection Parameter Update Request",
        .connectionParameterUpdateResponse: "Connection Parameter Update Response",
        .leCreditBasedConnectionRequest: "LE Credit Based Connection Request",
        .leCreditBasedConnectionResponse: "LE Credit Based Connection Response",
        .flowControlCredit: "Flow Control Credit Indication",
        .creditBasedConnectionRequest: "Credit Based Connection Request",
        .creditBasedConnectionResponse: "Credit Based Connection Response",
        .creditBasedReconfigureRequest: "Credit Based Reconfigure Request",
        .creditBasedReconfigureResponse: "Credit Based Reconfigure Response",
    ]
}
