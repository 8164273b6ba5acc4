import BLECore

/// Which of a connection's events are used (Core Specification 5.4, Vol 4, Part E, 7.8.123).
public struct SubrateParameters: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    public static let layout = HCILayout(
        "subrate min, subrate max, max latency, continuation number, supervision timeout", Self.init
    ) {
        ($0.factorMin, $0.factorMax, $0.maxLatency, $0.continuation, $0.supervisionTimeout)
    }
    /// For errors.
    public static let packetName = "subrate parameters"

    /// The least factor: one of so many connection events is used, 1 to 500.
    public var factorMin: UInt16
    /// The greatest factor, 1 to 500; times one more than `maxLatency` at most 500.
    public var factorMax: UInt16
    /// How many of the events used the peripheral may skip, 0 to 499.
    public var maxLatency: UInt16
    /// How many events stay in use after one with data, 0 to 499, less than `factorMax`.
    public var continuation: UInt16
    /// How long a peer may be silent before the link counts as lost, 100 ms to 32 s.
    public var supervisionTimeout: Centiseconds

    /// Those parameters.
    public init(
        factorMin: UInt16, factorMax: UInt16, maxLatency: UInt16 = 0, continuation: UInt16 = 0,
        supervisionTimeout: Centiseconds
    ) {
        (self.factorMin, self.factorMax, self.maxLatency) = (factorMin, factorMax, maxLatency)
        (self.continuation, self.supervisionTimeout) = (continuation, supervisionTimeout)
    }
}

/// Says what peripherals of later connections may ask for.
public struct LESetDefaultSubrate: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.123.
    public static let definition = command(.leSetDefaultSubrate, "parameters", Self.init) { $0.parameters }

    /// What is acceptable.
    public var parameters: SubrateParameters

    /// `parameters` from now on.
    public init(parameters: SubrateParameters) { self.parameters = parameters }
}

/// Changes which of a connection's events are used. LE Subrate Change follows.
public struct LESubrateRequest: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.124.
    public static let definition = command(.leSubrateRequest, "handle, parameters", Self.init) {
        ($0.connection, $0.parameters)
    }
    /// LE Subrate Change follows.
    public static let answer = HCIAnswer.status

    /// The connection.
    public var connection: ConnectionHandle
    /// What is wanted.
    public var parameters: SubrateParameters

    /// Wants `parameters` for `connection`.
    public init(connection: ConnectionHandle, parameters: SubrateParameters) {
        (self.connection, self.parameters) = (connection, parameters)
    }
}
