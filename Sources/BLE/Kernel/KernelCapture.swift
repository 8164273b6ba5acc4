import BLECore
import HCI
import HCISocket
import Logging

/// Hands the packets of one kernel adapter to a recording, whoever sent them: our commands, and the links
/// and scans of the kernel. Confined to its adapter.
final class KernelCapture: Sendable {
    private let index: UInt16
    private let sink: CaptureSink
    private let port: PacketSocket

    /// Opens the monitor channel, which needs CAP_NET_RAW.
    init(of index: UInt16, into sink: @escaping CaptureSink, on loop: EventLoop) throws(BLEError) {
        (self.index, self.sink) = (index, sink)
        do throws(PortError) {
            port = try HCISockets.monitor(on: loop)
        } catch {
            throw .kernel(error, operation: "recording hci\(index)")
        }
    }

    /// Records from now on.
    func start(_ log: Logger) throws(PortError) {
        try port.start(
            PacketPortHandlers(
                receive: { [index, sink] octets in
                    do throws(DecodeError) {
                        let told = try MonitorPacket(octets)
                        guard told.index == index, let (direction, packet) = told.packet else { return }
                        sink(direction, packet.span)
                    } catch {
                        log.warning("not recorded: \(error)")
                    }
                }, writable: {}, closed: { log.warning("the recording ends here: \($0)") }))
    }

    /// Ends it, after what the kernel has told already.
    func close() { port.closeAfterReading() }
}
