import BLECore
import SMP

/// Checks that a decoded command encodes to the same octets, and that two hosts that do not pair send at most
/// one answer.
public func fuzzSMP(_ bytes: Span<UInt8>) {
    let frame = [UInt8](copying: bytes)
    if let command = try? SMPCommand(frame) { precondition(command.encoded == frame) }
    var hosts = [PairingRefusal(), PairingRefusal()]
    var spoken = frame
    for turn in 0..<4 where !spoken.isEmpty {
        precondition(turn < 2)
        hosts[turn % 2].receive(spoken.span, at: .zero)
        spoken = [UInt8](capacity: 65) { output in
            while hosts[turn % 2].nextFrame(into: &output, at: .zero) {}
        }
        precondition(spoken.isEmpty == (hosts[turn % 2].nextEvent() == nil))
    }
}
