import ATT
import BLECore
import HCI
import SMP

/// A packet of a recording, decoded into its layers.
package struct DecodedPacket: Sendable {
    /// The number of the packet in the recording, from 1.
    package var frame: Int
    /// The time at which the packet was recorded.
    package var time: RecordingTime
    package var adapter: UInt16
    /// The direction of the packet; nil for records that are not packets.
    package var direction: Record.Direction?
    /// The connection that the packet belongs to, for data and for events about a connection.
    package var connection: ConnectionHandle?
    /// The peer of that connection, if the recording contains its beginning.
    package var peer: DeviceAddress?
    /// Whether that connection is known to be one of BR/EDR.
    package var isClassic = false
    /// The number of octets at the end of the packet that the recorder omitted.
    package var missing = 0
    /// The attribute that an ATT PDU, or the request that it answers, refers to.
    package var attribute: DecodedAttribute?
    /// The request that this packet answers.
    package var request: AnsweredRequest?
    /// The outermost layer, which is the whole record.
    package var outer: DecodedLayer
    /// The layers of the whole frame that this packet completes; empty for data that only begins or continues
    /// a frame, and for packets other than data.
    package var inner: [DecodedLayer] = []

    package var layers: [DecodedLayer] { [outer] + inner }

    /// The innermost layer, which names the packet.
    package var top: DecodedLayer { inner.last ?? outer }
}

/// A request that a packet answers.
package struct AnsweredRequest: Hashable, Sendable {
    /// The frame number of the request, from 1.
    package var frame: Int
    /// The time from the request to the answer in microseconds; negative if the recording's clock was set
    /// back.
    package var latency: Int64
    /// The name of the request.
    package var name: String

    package init(frame: Int, latency: Int64, name: String) {
        (self.frame, self.latency, self.name) = (frame, latency, name)
    }
}

/// An attribute of a recorded server, as far as discovery in the same recording reported it.
package struct DecodedAttribute: Hashable, Sendable {
    package var handle: AttributeHandle
    /// The type of the attribute; nil if discovery has not reported it.
    package var uuid: BluetoothUUID?
    /// The characteristic to which the attribute belongs as a descriptor.
    package var characteristic: BluetoothUUID?
    /// The service to which the attribute belongs.
    package var service: BluetoothUUID?

    /// Creates an attribute with the properties that are known.
    package init(
        handle: AttributeHandle, uuid: BluetoothUUID? = nil, characteristic: BluetoothUUID? = nil,
        service: BluetoothUUID? = nil
    ) {
        (self.handle, self.uuid) = (handle, uuid)
        (self.characteristic, self.service) = (characteristic, service)
    }
}

extension DecodedPacket {
    /// The value of `attribute` that the packet carries, if it carries all of it.
    package var value: [UInt8]? {
        switch top.att {
        case .response(.read(let value)), .request(.write(_, let value)), .command(.write(_, let value)),
            .command(.signedWrite(_, let value, _)), .unsolicited(.notification(_, let value)),
            .unsolicited(.indication(_, let value)):
            missing == 0 ? value : nil
        default: nil
        }
    }

    /// The failure that the packet reports: an ATT error, a status other than success, or a failed pairing.
    package var failure: String? {
        if let command = top.smp {
            guard case .pairingFailed(let reason) = command else { return nil }
            return "Pairing Failed: \(reason)"
        }
        if let pdu = top.att {
            guard case .response(.error(let error)) = pdu, !error.endsDiscovery else { return nil }
            return "\(error.requestOpcode): \(error.code)"
        }
        if case .classic(let event) = outer.content, let status = event.status, status != .success {
            return "\(outer.name): \(status)"
        }
        guard let event = outer.event, let (what, status) = event.outcome, status != .success,
            !event.isOfCancelledAttempt
        else { return nil }
        return "\(what): \(status)"
    }
}

extension ATTErrorResponse {
    /// Whether this is the end of a discovery: there are no more attributes.
    fileprivate var endsDiscovery: Bool {
        guard code == .attributeNotFound else { return false }
        return switch requestOpcode {
        case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest:
            true
        default: false
        }
    }
}

extension HCIEvent {
    /// Whether the event ends an attempt to connect that the host has cancelled.
    fileprivate var isOfCancelledAttempt: Bool {
        switch self {
        case .leMeta(.connectionComplete(let event)): event.status == .unknownConnectionIdentifier
        case .leMeta(.enhancedConnectionComplete(let event)): event.status == .unknownConnectionIdentifier
        default: false
        }
    }

    /// The subject of the event and the status that it reports.
    fileprivate var outcome: (what: String, status: HCIStatus)? {
        switch self {
        case .commandComplete(let event): event.status.map { (VendorPackets.name(of: event.opcode), $0) }
        case .commandStatus(let event): (VendorPackets.name(of: event.opcode), event.status)
        case .disconnectionComplete(let event): (code.description, event.status)
        case .encryptionChange(let event): (code.description, event.status)
        case .encryptionChangeV2(let event): (code.description, event.status)
        case .encryptionKeyRefreshComplete(let event): (code.description, event.status)
        case .readRemoteVersionInformationComplete(let event): (code.description, event.status)
        case .leMeta(.connectionComplete(let event)): ("LE Connection Complete", event.status)
        case .leMeta(.enhancedConnectionComplete(let event)): ("LE Connection Complete", event.status)
        case .leMeta(.connectionUpdateComplete(let event)): ("LE Connection Update Complete", event.status)
        case .leMeta(.readRemoteFeaturesComplete(let event)):
            ("LE Read Remote Features Complete", event.status)
        case .leMeta(.phyUpdateComplete(let event)): ("LE PHY Update Complete", event.status)
        default: nil
        }
    }
}
