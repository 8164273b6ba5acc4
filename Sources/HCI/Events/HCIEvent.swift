import BLECore

/// A decoded event (Core Specification 5.4, Vol 4, Part E, 7.7). It is encoded as an event packet: code,
/// length, parameters.
package enum HCIEvent: Hashable, Sendable {
    /// A connection has ended.
    case disconnectionComplete(DisconnectionComplete)
    /// Encryption of a connection was enabled or disabled, or the change failed.
    case encryptionChange(EncryptionChange)
    /// Encryption was enabled or disabled; includes the size of the key.
    case encryptionChangeV2(EncryptionChangeV2)
    /// An encrypted connection has a new key.
    case encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete)
    /// The version and manufacturer of a peer's controller.
    case readRemoteVersionInformationComplete(ReadRemoteVersionInformationComplete)
    /// The controller has executed a command.
    case commandComplete(CommandComplete)
    /// A command has started or was rejected.
    case commandStatus(CommandStatus)
    /// The controller reports a failure of its hardware.
    case hardwareError(HardwareError)
    /// The controller has sent packets, and their buffers are free.
    case numberOfCompletedPackets(NumberOfCompletedPackets)
    /// The host has sent more data than the controller can buffer.
    case dataBufferOverflow(DataBufferOverflow)
    /// The authenticated payload timeout of a connection has expired.
    case authenticatedPayloadTimeoutExpired(AuthenticatedPayloadTimeoutExpired)
    /// An event of Low Energy, with its own subevent code.
    case leMeta(LEMetaEvent)
    /// An event without a type of its own here; its parameters are kept as received.
    case unknown(HCIEventCode, parameters: [UInt8])
}

extension HCIEvent {
    /// Decodes the parameters according to the packet's event code.
    package init(_ packet: HCIEventPacket) throws(DecodeError) {
        self = try Self.decode(packet.code, packet.parameters.span)
    }

    package var code: HCIEventCode { content.code }

    /// The event parameters, without the event code and the length.
    package var parameters: any PacketCodable { content.parameters }

    package var packet: HCIEventPacket {
        let (code, parameters) = content
        return HCIEventPacket(code: code, parameters: parameters.encoded)
    }

    /// Decodes the parameters of an event. Errors contain the name of the event and an offset from the first
    /// parameter.
    private static func decode(
        _ code: HCIEventCode, _ parameters: Span<UInt8>
    ) throws(DecodeError) -> HCIEvent {
        do throws(DecodeError) {
            var reader = ByteReader(parameters, of: "")
            let event = try decode(code, &reader)
            try reader.end()
            return event
        } catch {
            var error = error
            if error.packet.isEmpty { error.packet = code.description }
            throw error
        }
    }

    private static func decode(
        _ code: HCIEventCode, _ reader: inout ByteReader
    ) throws(DecodeError) -> HCIEvent {
        switch code {
        case .disconnectionComplete: .disconnectionComplete(try .init(decoding: &reader))
        case .encryptionChange: .encryptionChange(try .init(decoding: &reader))
        case .encryptionChangeV2: .encryptionChangeV2(try .init(decoding: &reader))
        case .encryptionKeyRefreshComplete: .encryptionKeyRefreshComplete(try .init(decoding: &reader))
        case .readRemoteVersionInformationComplete:
            .readRemoteVersionInformationComplete(try .init(decoding: &reader))
        case .commandComplete: .commandComplete(try .init(decoding: &reader))
        case .commandStatus: .commandStatus(try .init(decoding: &reader))
        case .hardwareError: .hardwareError(try .init(decoding: &reader))
        case .numberOfCompletedPackets: .numberOfCompletedPackets(try .init(decoding: &reader))
        case .dataBufferOverflow: .dataBufferOverflow(try .init(decoding: &reader))
        case .authenticatedPayloadTimeoutExpired:
            .authenticatedPayloadTimeoutExpired(try .init(decoding: &reader))
        case .leMeta: .leMeta(try .init(decoding: &reader))
        default: .unknown(code, parameters: reader.rest())
        }
    }
}

extension HCIEvent: PacketCodable {
    package static let packetName = "HCI event"

    /// Reads the code, the length and as many octets of parameters.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let code = HCIEventCode(rawValue: try reader.u8("Event_Code"))
        let length = Int(try reader.u8("Parameter_Total_Length"))
        self = try Self.decode(code, try reader.span(length, "Event_Parameters"))
    }

    /// The encoded size in octets: the 2 octets of the header and the parameters.
    package var encodedCount: Int { 2 + parameters.encodedCount }

    package func encode(into output: inout OutputSpan<UInt8>) {
        let (code, parameters) = content
        output.u8(code.rawValue)
        output.u8(UInt8(clamping: parameters.encodedCount))
        parameters.encode(into: &output)
    }

    private var content: (code: HCIEventCode, parameters: any PacketCodable) {
        switch self {
        case .disconnectionComplete(let event): content(of: event)
        case .encryptionChange(let event): content(of: event)
        case .encryptionChangeV2(let event): content(of: event)
        case .encryptionKeyRefreshComplete(let event): content(of: event)
        case .readRemoteVersionInformationComplete(let event): content(of: event)
        case .commandComplete(let event): content(of: event)
        case .commandStatus(let event): content(of: event)
        case .hardwareError(let event): content(of: event)
        case .numberOfCompletedPackets(let event): content(of: event)
        case .dataBufferOverflow(let event): content(of: event)
        case .authenticatedPayloadTimeoutExpired(let event): content(of: event)
        case .leMeta(let event): (.leMeta, event)
        case .unknown(let code, let octets): (code, UnknownParameters(octets: octets))
        }
    }

    private func content<Event: HCIEventParameters>(
        of event: Event
    ) -> (code: HCIEventCode, parameters: any PacketCodable) {
        (Event.code, event)
    }
}
