/// The latency that is requested for a central's link, named as in Core Bluetooth
/// (`CBPeripheralManagerConnectionLatency`). The central decides on the parameters.
public enum ConnectionLatency: String, Hashable, Sendable, CaseIterable {
    /// 15 to 30 ms between connection events: for large amounts of data, at the cost of the battery.
    case low
    /// 60 to 90 ms between connection events.
    case medium
    /// 240 to 300 ms between connection events, of which this host may skip two in a row: for little data and a
    /// long battery life.
    case high

    /// The connection parameters that are requested.
    package var parameters: ConnectionParameters {
        switch self {
        case .low: .init(interval: .milliseconds(15) ... .milliseconds(30))
        case .medium: .init(interval: .milliseconds(60) ... .milliseconds(90))
        case .high:
            .init(
                interval: .milliseconds(240) ... .milliseconds(300), latency: 2,
                supervisionTimeout: .seconds(6))
        }
    }
}

extension PeripheralManager {
    /// Requests a link with this latency from a central. Returns the parameters that are then in effect. Throws
    /// `BLEError.parametersRefused` when the central refuses. On kernel adapters only the controllers can make
    /// the request; it fails with the same error when the central's controller has no Connection Parameters
    /// Request procedure.
    @discardableResult
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for central: Central
    ) async throws(BLEError) -> LinkParameters {
        try await connection(of: central).setParameters(latency.parameters)
    }
}
