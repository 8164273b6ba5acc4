import BLECore

/// Which of a connection's events are used (Core Specification 5.4, Vol 4, Part E, 7.8.123).
package struct SubrateParameters: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout(
        "Subrate_Min, Subrate_Max, Max_Latency, Continuation_Number, Supervision_Timeout", Self.init
    ) {
        ($0.factorMin, $0.factorMax, $0.maxLatency, $0.continuation, $0.supervisionTimeout)
    }
    package static let packetName = "subrate parameters"

    /// The least factor: one of so many connection events is used, 1 to 500.
    package var factorMin: UInt16
    /// The greatest factor, 1 to 500; times one more than `maxLatency` at most 500.
    package var factorMax: UInt16
    /// How many of the events used the peripheral may skip, 0 to 499.
    package var maxLatency: UInt16
    /// How many events stay in use after one with data, 0 to 499, less than `factorMax`.
    package var continuation: UInt16
    /// How long a peer may be silent before the link counts as lost, 100 ms to 32 s.
    package var supervisionTimeout: Centiseconds

    package init(
        factorMin: UInt16, factorMax: UInt16, maxLatency: UInt16 = 0, continuation: UInt16 = 0,
        supervisionTimeout: Centiseconds
    ) {
        (self.factorMin, self.factorMax, self.maxLatency) = (factorMin, factorMax, maxLatency)
        (self.continuation, self.supervisionTimeout) = (continuation, supervisionTimeout)
    }
}

/// Says what peripherals of later connections may ask for.
package struct LESetDefaultSubrate: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.123.
    package static let definition = command(.leSetDefaultSubrate, "Subrate_Min", Self.init) { $0.parameters }

    package var parameters: SubrateParameters

    package init(parameters: SubrateParameters) { self.parameters = parameters }
}

/// Changes which of a connection's events are used. LE Subrate Change follows.
package struct LESubrateRequest: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.124.
    package static let definition = command(.leSubrateRequest, "Connection_Handle, Subrate_Min", Self.init) {
        ($0.connection, $0.parameters)
    }
    /// LE Subrate Change follows.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle
    package var parameters: SubrateParameters

    package init(connection: ConnectionHandle, parameters: SubrateParameters) {
        (self.connection, self.parameters) = (connection, parameters)
    }
}
