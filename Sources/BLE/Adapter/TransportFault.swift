import BLECore
import HCISocket

/// A fault of the transport between a host and its controller, whatever transport that is. With it, a test
/// shows how an application behaves on a slow or lossy line. Faults affect both directions; the same seed
/// affects the same packets.
///
/// ```swift
/// var options = AdapterOptions()
/// options.transportFaults = [.delay(.milliseconds(5) ... .milliseconds(40)), .loss(0.01)]
/// let adapter = try await Adapter.open(.stream(address), options: options)
/// ```
public enum TransportFault: Hashable, Sendable {
    /// Packets are delayed by a time within the range, and keep their order.
    case delay(ClosedRange<Duration>, seed: UInt64 = 1)
    /// Packets are lost, with a probability from 0 to 1. When an answer is lost, the controller counts as silent
    /// and is reset.
    case loss(Double, seed: UInt64 = 1)

    /// Returns a port around `port` that has the fault.
    func port(around port: any PacketPort, on loop: EventLoop) -> any PacketPort {
        switch self {
        case .delay(let range, let seed):
            DelayedPort(port, on: loop, delay: range, random: SplitMix64(seed: seed))
        case .loss(let probability, let seed):
            LossyPort(port, probability: probability, random: SplitMix64(seed: seed))
        }
    }
}
