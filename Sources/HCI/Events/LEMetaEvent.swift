import BLECore

/// An event of Low Energy (Core Specification 5.4, Vol 4, Part E, 7.7.65).
package enum LEMetaEvent: Hashable, Sendable {
    /// A connection was created, or the attempt failed.
    case connectionComplete(LEConnectionComplete)
    /// Legacy advertising was received.
    case advertisingReports(LEAdvertisingReports)
    /// The parameters of a connection have changed, or the change has failed.
    case connectionUpdateComplete(LEConnectionUpdateComplete)
    /// The features that a peer's controller supports.
    case readRemoteFeaturesComplete(LEReadRemoteFeaturesComplete)
    /// A central starts encryption, and the controller requests the key.
    case longTermKeyRequest(LELongTermKeyRequest)
    /// A peer requests other connection parameters.
    case remoteConnectionParameterRequest(LERemoteConnectionParameterRequest)
    /// The maximum length of a connection's packets has changed.
    case dataLengthChange(LEDataLengthChange)
    /// The controller generated a key pair, or failed to.
    case readLocalP256PublicKeyComplete(LEReadLocalP256PublicKeyComplete)
    /// The controller derived a Diffie-Hellman key, or failed to.
    case generateDHKeyComplete(LEGenerateDHKeyComplete)
    /// A connection was created, or the attempt failed; includes private addresses.
    case enhancedConnectionComplete(LEEnhancedConnectionComplete)
    /// Advertising directed at an unresolved address was received.
    case directedAdvertisingReports(LEDirectedAdvertisingReports)
    /// The PHYs of a connection have changed, or the change has failed.
    case phyUpdateComplete(LEPHYUpdateComplete)
    /// Reports of extended and legacy advertising, received by extended scanning.
    case extendedAdvertisingReports(LEExtendedAdvertisingReports)
    /// The synchronization with a periodic train was established, or failed.
    case periodicAdvertisingSyncEstablished(LEPeriodicAdvertisingSyncEstablished)
    /// A packet of a periodic train, or a part of its data.
    case periodicAdvertisingReport(LEPeriodicAdvertisingReport)
    /// The synchronization with a periodic train was lost.
    case periodicAdvertisingSyncLost(LEPeriodicAdvertisingSyncLost)
    /// A peer transferred the synchronization with a periodic train.
    case periodicAdvertisingSyncTransferReceived(LEPeriodicAdvertisingSyncTransferReceived)
    /// A scan with a limited duration has ended.
    case scanTimeout(LEScanTimeout)
    /// An advertising set is no longer sent.
    case advertisingSetTerminated(LEAdvertisingSetTerminated)
    /// A scanner requested a scan response.
    case scanRequestReceived(LEScanRequestReceived)
    /// The channel selection algorithm of a connection is known.
    case channelSelectionAlgorithm(LEChannelSelectionAlgorithm)
    /// The accuracy of a peer's sleep clock.
    case requestPeerSCAComplete(LERequestPeerSCAComplete)
    /// The transmit power of a connection has changed, or was requested.
    case transmitPowerReporting(LETransmitPowerReporting)
    /// The subrating parameters of a connection have changed, or the change has failed.
    case subrateChange(LESubrateChange)
    /// An event without a type of its own here; its parameters are kept as received.
    case unknown(LESubevent, parameters: [UInt8])
}

extension LEMetaEvent: PacketCodable {
    package static let packetName = "LE Meta"

    /// Reads the subevent code and its parameters. The caller handles any octets after them.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let subevent = LESubevent(rawValue: try reader.u8("Subevent_Code"))
        do throws(DecodeError) {
            self = try Self.decode(subevent, &reader)
        } catch {
            var error = error
            error.packet = subevent.description
            throw error
        }
    }

    private static func decode(
        _ subevent: LESubevent, _ reader: inout ByteReader
    ) throws(DecodeError) -> LEMetaEvent {
        switch subevent {
        case .connectionComplete: .connectionComplete(try .init(decoding: &reader))
        case .advertisingReport: .advertisingReports(try .init(decoding: &reader))
        case .connectionUpdateComplete: .connectionUpdateComplete(try .init(decoding: &reader))
        case .readRemoteFeaturesComplete: .readRemoteFeaturesComplete(try .init(decoding: &reader))
        case .longTermKeyRequest: .longTermKeyRequest(try .init(decoding: &reader))
        case .remoteConnectionParameterRequest:
            .remoteConnectionParameterRequest(try .init(decoding: &reader))
        case .dataLengthChange: .dataLengthChange(try .init(decoding: &reader))
        case .readLocalP256PublicKeyComplete:
            .readLocalP256PublicKeyComplete(try .init(decoding: &reader))
        case .generateDHKeyComplete: .generateDHKeyComplete(try .init(decoding: &reader))
        case .enhancedConnectionComplete: .enhancedConnectionComplete(try .init(decoding: &reader))
        case .directedAdvertisingReport: .directedAdvertisingReports(try .init(decoding: &reader))
        case .phyUpdateComplete: .phyUpdateComplete(try .init(decoding: &reader))
        case .extendedAdvertisingReport: .extendedAdvertisingReports(try .init(decoding: &reader))
        case .periodicAdvertisingSyncEstablished:
            .periodicAdvertisingSyncEstablished(try .init(decoding: &reader))
        case .periodicAdvertisingReport: .periodicAdvertisingReport(try .init(decoding: &reader))
        case .periodicAdvertisingSyncLost: .periodicAdvertisingSyncLost(try .init(decoding: &reader))
        case .periodicAdvertisingSyncTransferReceived:
            .periodicAdvertisingSyncTransferReceived(try .init(decoding: &reader))
        case .scanTimeout: .scanTimeout(try .init(decoding: &reader))
        case .advertisingSetTerminated: .advertisingSetTerminated(try .init(decoding: &reader))
        case .scanRequestReceived: .scanRequestReceived(try .init(decoding: &reader))
        case .channelSelectionAlgorithm: .channelSelectionAlgorithm(try .init(decoding: &reader))
        case .requestPeerSCAComplete: .requestPeerSCAComplete(try .init(decoding: &reader))
        case .transmitPowerReporting: .transmitPowerReporting(try .init(decoding: &reader))
        case .subrateChange: .subrateChange(try .init(decoding: &reader))
        default: .unknown(subevent, parameters: reader.rest())
        }
    }

    /// The encoded size in octets: one for the subevent code, plus the parameters.
    package var encodedCount: Int { 1 + parameters.encodedCount }

    /// Writes the subevent code and its parameters.
    package func encode(into output: inout OutputSpan<UInt8>) {
        let (subevent, parameters) = content
        output.u8(subevent.rawValue)
        parameters.encode(into: &output)
    }

    package var subevent: LESubevent { content.subevent }

    /// The event parameters after the subevent code.
    package var parameters: any HCIParameters { content.parameters }

    private var content: (subevent: LESubevent, parameters: any HCIParameters) {
        switch self {
        case .connectionComplete(let event): content(of: event)
        case .advertisingReports(let event): content(of: event)
        case .connectionUpdateComplete(let event): content(of: event)
        case .readRemoteFeaturesComplete(let event): content(of: event)
        case .longTermKeyRequest(let event): content(of: event)
        case .remoteConnectionParameterRequest(let event): content(of: event)
        case .dataLengthChange(let event): content(of: event)
        case .readLocalP256PublicKeyComplete(let event): content(of: event)
        case .generateDHKeyComplete(let event): content(of: event)
        case .enhancedConnectionComplete(let event): content(of: event)
        case .directedAdvertisingReports(let event): content(of: event)
        case .phyUpdateComplete(let event): content(of: event)
        case .extendedAdvertisingReports(let event): content(of: event)
        case .periodicAdvertisingSyncEstablished(let event): content(of: event)
        case .periodicAdvertisingReport(let event): content(of: event)
        case .periodicAdvertisingSyncLost(let event): content(of: event)
        case .periodicAdvertisingSyncTransferReceived(let event): content(of: event)
        case .scanTimeout(let event): content(of: event)
        case .advertisingSetTerminated(let event): content(of: event)
        case .scanRequestReceived(let event): content(of: event)
        case .channelSelectionAlgorithm(let event): content(of: event)
        case .requestPeerSCAComplete(let event): content(of: event)
        case .transmitPowerReporting(let event): content(of: event)
        case .subrateChange(let event): content(of: event)
        case .unknown(let subevent, let octets): (subevent, UnknownParameters(octets: octets))
        }
    }

    private func content<Event: LEEventParameters>(
        of event: Event
    ) -> (subevent: LESubevent, parameters: any HCIParameters) {
        (Event.subevent, event)
    }
}
