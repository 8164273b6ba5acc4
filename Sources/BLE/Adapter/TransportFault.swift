import BLECore
import HCISocket

/// What may go wrong between a host and its controller, whatever carries their packets: to see what an
/// application makes of a slow or a broken line. Both ways suffer, and with the same seed the same packets.
///
/// ```swift
/// var options = AdapterOptions()
/// options.transportFaults = [.delay(.milliseconds(5) ... .milliseconds(40)), .loss(0.01)]
/// let adapter = try await Adapter.open(.stream(address), options: options)
/// ```
public enum TransportFault: Hashable, Sendable {
    /// Packets take a time within the range, and keep their order.
    case delay(ClosedRange<Duration>, seed: UInt64 = 1)
    /// Packets are lost, with a probability from 0 to 1. A lost answer is a controller that is silent: it is reset.
    case loss(Double, seed: UInt64 = 1)

    /// The port, with the fault around it.
    func port(around port: any PacketPort, on loop: EventLoop) -> any PacketPort {
        switch self {
        case .delay(let range, let seed):
            DelayedPort(port, on: loop, delay: range, random: SplitMix64(seed: seed))
        case .loss(let probability, let seed):
            LossyPort(port, probability: probability, random: SplitMix64(seed: seed))
        }
    }
}
