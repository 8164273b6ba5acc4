import BLECore

/// Rejects a request that was not understood or is not valid.
package struct CommandReject: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.1.
    package static let definition = message(.commandReject, "Reason, Reason Data", Self.init) {
        ($0.reason, Remainder($0.data))
    }

    package struct Reason: HCICode {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The code of the request is unknown, or its data is malformed.
        package static let notUnderstood = Reason(rawValue: 0x0000)
        /// The frame of the request was longer than the signaling MTU.
        package static let mtuExceeded = Reason(rawValue: 0x0001)
        /// The request contains a channel that does not exist.
        package static let invalidChannel = Reason(rawValue: 0x0002)
    }

    package var reason: Reason
    /// Additional data, which depends on the reason.
    package var data: [UInt8]

    /// Creates a rejection with the data for the reason.
    package init(reason: Reason, data: [UInt8] = []) { (self.reason, self.data) = (reason, data) }

    /// Creates the rejection of a frame that is longer than `mtu`.
    package static func mtuExceeded(limit mtu: UInt16) -> CommandReject {
        CommandReject(reason: .mtuExceeded, data: Returned(mtu).encoded)
    }

    /// Creates the rejection of a request for a channel that does not exist, with both sides' identifiers of
    /// it.
    package static func invalidChannel(local: L2CAPChannelID, remote: L2CAPChannelID) -> CommandReject {
        CommandReject(reason: .invalidChannel, data: Returned(local).encoded + Returned(remote).encoded)
    }

    private init(reason: Reason, data: Remainder) { self.init(reason: reason, data: data.octets) }
}

/// Requests the end of a connection-oriented channel.
package struct DisconnectionRequest: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.6.
    package static let definition = message(.disconnectionRequest, "Destination CID, Source CID", Self.init) {
        ($0.destination, $0.source)
    }

    /// The receiver's identifier of the channel.
    package var destination: L2CAPChannelID
    /// The sender's identifier of the channel.
    package var source: L2CAPChannelID

    package init(
        destination: L2CAPChannelID, source: L2CAPChannelID
    ) {
        (self.destination, self.source) = (destination, source)
    }
}

/// Confirms the end of a connection-oriented channel.
package struct DisconnectionResponse: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.7.
    package static let definition = message(
        .disconnectionResponse, "Destination CID, Source CID", Self.init
    ) {
        ($0.destination, $0.source)
    }

    /// The destination, as in the request.
    package var destination: L2CAPChannelID
    /// The source, as in the request.
    package var source: L2CAPChannelID

    package init(
        destination: L2CAPChannelID, source: L2CAPChannelID
    ) {
        (self.destination, self.source) = (destination, source)
    }
}

/// A peripheral's request to its central for new connection parameters.
package struct ConnectionParameterUpdateRequest: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.20.
    package static let definition = message(
        .connectionParameterUpdateRequest, "Interval Min, Interval Max, Latency, Timeout", Self.init
    ) {
        ($0.intervalMin, $0.intervalMax, $0.latency, $0.supervisionTimeout)
    }

    /// The minimum interval between connection events.
    package var intervalMin: ConnectionInterval
    /// The maximum interval between connection events.
    package var intervalMax: ConnectionInterval
    /// The number of connection events that the peripheral can skip.
    package var latency: UInt16
    /// The supervision timeout of the connection.
    package var supervisionTimeout: Centiseconds

    /// Creates a request for parameters with these values.
    package init(
        intervalMin: ConnectionInterval, intervalMax: ConnectionInterval, latency: UInt16,
        supervisionTimeout: Centiseconds
    ) {
        (self.intervalMin, self.intervalMax) = (intervalMin, intervalMax)
        (self.latency, self.supervisionTimeout) = (latency, supervisionTimeout)
    }

    /// The parameters in the form that LE Connection Update takes.
    package var parameters: LEConnectionParameters {
        LEConnectionParameters(
            intervalMin: intervalMin, intervalMax: intervalMax, latency: latency,
            supervisionTimeout: supervisionTimeout)
    }
}

/// The central's response to `ConnectionParameterUpdateRequest`.
package struct ConnectionParameterUpdateResponse: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.21.
    package static let definition = message(.connectionParameterUpdateResponse, "Result", Self.init) {
        $0.result
    }

    /// The central's decision on the requested parameters.
    package struct Result: HCICode {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The central accepts the parameters.
        package static let accepted = Result(rawValue: 0x0000)
        /// The central rejects the parameters.
        package static let rejected = Result(rawValue: 0x0001)
    }

    /// The central's decision on the requested parameters.
    package var result: Result

    package init(result: Result) { self.result = result }
}
