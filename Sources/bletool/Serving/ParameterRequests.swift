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
        do throws(BLEError) {
            // A change is an event of the server.
            _ = try await manager.connection(of: central).setParameters(wanted)
        } catch {
            switch error {
            case .parametersRefused, .timedOut(.parameterRequest, _):
                console.note("\(central.address.text) keeps its connection parameters: \(error)")
            // The link has ended.
            default: break
            }
        }
    }
}
