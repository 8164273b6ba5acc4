import BLE
import BLECore
import HCISocket

/// Requests the connection parameters of the configuration from each central, once. A server cannot set them: the
/// central decides.
struct ParameterRequests: Sendable {
    let wanted: ConnectionParameters
    let manager: PeripheralManager
    let console: Console

    /// The time after a connection in which a peripheral leaves the parameters to its central, which discovers the
    /// services then: TGAP(conn_pause_peripheral) (Core Specification 5.4, Vol 3, Part C, Appendix A).
    private static let pause = Duration.seconds(5)

    /// Requests the parameters of a link that has just begun. Returns when the central has answered, or the link has
    /// ended.
    func request(of central: Central) async {
        guard await manager.adapter.loop.sleep(for: Self.pause) else { return }
        let connection = manager.connection(of: central)
        do throws(BLEError) {
            if let timing = try await connection.parameters.timing, wanted.admit(timing) { return }
            // A change is an event of the server.
            _ = try await connection.setParameters(wanted)
        } catch {
            switch error {
            case .disconnected, .cancelled, .adapter(.closed): break
            default: console.note("\(central.address.text) keeps its connection parameters: \(error)")
            }
        }
    }
}

extension ConnectionParameters {
    /// Returns whether a link with this timing meets these parameters.
    fileprivate func admit(_ timing: LinkParameters.Timing) -> Bool {
        interval.contains(timing.interval) && latency == timing.latency
            && supervisionTimeout == timing.supervisionTimeout
    }
}
