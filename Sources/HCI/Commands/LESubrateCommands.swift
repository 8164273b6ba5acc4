import BLECore

/// The subrating parameters of a connection (Core Specification 5.4, Vol 4, Part E, 7.8.123).
package struct SubrateParameters: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout(
        "Subrate_Min, Subrate_Max, Max_Latency, Continuation_Number, Supervision_Timeout", Self.init
    ) {
        ($0.factorMin, $0.factorMax, $0.maxLatency, $0.continuation, $0.supervisionTimeout)
    }
    package static let packetName = "subrate parameters"

    /// The minimum subrate factor, 1 to 500: one of that many connection events is used.
    package var factorMin: UInt16
    /// The maximum subrate factor, 1 to 500. Multiplied by one more than `maxLatency` it must not exceed 500.
    package var factorMax: UInt16
    /// The number of subrated events that the peripheral can skip, 0 to 499.
    package var maxLatency: UInt16
    /// The number of events that are used after one with data, 0 to 499, less than `factorMax`.
    package var continuation: UInt16
    /// The supervision timeout of the connection, 100 ms to 32 s.
    package var supervisionTimeout: Centiseconds

    package init(
        factorMin: UInt16, factorMax: UInt16, maxLatency: UInt16 = 0, continuation: UInt16 = 0,
        supervisionTimeout: Centiseconds
    ) {
        (self.factorMin, self.factorMax, self.maxLatency) = (factorMin, factorMax, maxLatency)
        (self.continuation, self.supervisionTimeout) = (continuation, supervisionTimeout)
    }
}

/// Sets the subrating parameters that peripherals of later connections can request.
package struct LESetDefaultSubrate: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.123.
    package static let definition = command(.leSetDefaultSubrate, "Subrate_Min", Self.init) { $0.parameters }

    package var parameters: SubrateParameters

    package init(parameters: SubrateParameters) { self.parameters = parameters }
}

/// Changes the subrating parameters of a connection. LE Subrate Change follows.
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
