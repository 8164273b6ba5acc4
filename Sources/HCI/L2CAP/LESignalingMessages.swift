import BLECore

/// A request was not understood or cannot be meant.
package struct CommandReject: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.1.
    package static let definition = message(.commandReject, "Reason, Reason Data", Self.init) {
        ($0.reason, Remainder($0.data))
    }

    package struct Reason: HCICode {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Its code is unknown, or its data do not have the form of the code.
        package static let notUnderstood = Reason(rawValue: 0x0000)
        /// Its frame was longer than the signaling MTU.
        package static let mtuExceeded = Reason(rawValue: 0x0001)
        /// It names a channel that is not there.
        package static let invalidChannel = Reason(rawValue: 0x0002)
    }

    package var reason: Reason
    /// More about it, by the reason.
    package var data: [UInt8]

    /// A rejection with the data that go with the reason.
    package init(reason: Reason, data: [UInt8] = []) { (self.reason, self.data) = (reason, data) }

    /// The rejection of a frame that is longer than `mtu`.
    package static func mtuExceeded(limit mtu: UInt16) -> CommandReject {
        CommandReject(reason: .mtuExceeded, data: Returned(mtu).encoded)
    }

    /// The rejection of a request about a channel that is not there, by both sides' numbers for it.
    package static func invalidChannel(local: L2CAPChannelID, remote: L2CAPChannelID) -> CommandReject {
        CommandReject(reason: .invalidChannel, data: Returned(local).encoded + Returned(remote).encoded)
    }

    private init(reason: Reason, data: Remainder) { self.init(reason: reason, data: data.octets) }
}

/// Asks to end a connection-oriented channel.
package struct DisconnectionRequest: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.6.
    package static let definition = message(.disconnectionRequest, "Destination CID, Source CID", Self.init) {
        ($0.destination, $0.source)
    }

    /// The receiver's number for the channel.
    package var destination: L2CAPChannelID
    /// The sender's number for the channel.
    package var source: L2CAPChannelID

    package init(
        destination: L2CAPChannelID, source: L2CAPChannelID
    ) {
        (self.destination, self.source) = (destination, source)
    }
}

/// A connection-oriented channel has ended.
package struct DisconnectionResponse: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.7.
    package static let definition = message(
        .disconnectionResponse, "Destination CID, Source CID", Self.init
    ) {
        ($0.destination, $0.source)
    }

    /// As in the request.
    package var destination: L2CAPChannelID
    /// As in the request.
    package var source: L2CAPChannelID

    package init(
        destination: L2CAPChannelID, source: L2CAPChannelID
    ) {
        (self.destination, self.source) = (destination, source)
    }
}

/// A peripheral asks its central for other connection parameters.
package struct ConnectionParameterUpdateRequest: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.20.
    package static let definition = message(
        .connectionParameterUpdateRequest, "Interval Min, Interval Max, Latency, Timeout", Self.init
    ) {
        ($0.intervalMin, $0.intervalMax, $0.latency, $0.supervisionTimeout)
    }

    /// The least interval between connection events.
    package var intervalMin: ConnectionInterval
    /// The greatest interval between connection events.
    package var intervalMax: ConnectionInterval
    /// How many connection events the peripheral may skip.
    package var latency: UInt16
    /// How long a peer may be silent before the link counts as lost.
    package var supervisionTimeout: Centiseconds

    /// A request for parameters of these values.
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

/// The answer of the central to `ConnectionParameterUpdateRequest`.
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
        /// It will not change the parameters.
        package static let rejected = Result(rawValue: 0x0001)
    }

    /// The central's decision on the requested parameters.
    package var result: Result

    package init(result: Result) { self.result = result }
}
