/// How quickly a central's link shall answer, in Core Bluetooth's words (`CBPeripheralManagerConnectionLatency`). What
/// the central makes of it is for the central to say.
public enum ConnectionLatency: String, Hashable, Sendable, CaseIterable {
    /// 15 to 30 ms between connection events: for much data, at the cost of the battery.
    case low
    /// 60 to 90 ms.
    case medium
    /// 240 to 300 ms, of which this host may leave out two in a row: for little data and a long life.
    case high

    /// The connection parameters that are asked for.
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
    /// Asks a central for a link that answers so quickly. Returns what the link is then;
    /// `BLEError.parametersRefused` is the central's no. On kernel adapters only the controllers can ask, and the answer is
    /// that as well where the central's has no Connection Parameters Request procedure.
    @discardableResult
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for central: Central
    ) async throws(BLEError) -> LinkParameters {
        try await connection(of: central).setParameters(latency.parameters)
    }
}
