import BLECore
import HCI
import HCISocket
import Logging

/// Hands the packets of one kernel adapter to a recording, of any origin: our commands, and the links and scans of the
/// kernel. Confined to its adapter.
final class KernelCapture: Sendable {
    private let index: UInt16
    private let sink: CaptureSink
    private let monitor: KernelMonitor

    /// Opens the monitor channel, which needs CAP_NET_RAW.
    init(
        of index: UInt16, _ kernel: any Kernel, into sink: @escaping CaptureSink, on loop: EventLoop
    ) throws(BLEError) {
        (self.index, self.sink) = (index, sink)
        monitor = try KernelMonitor(of: kernel, on: loop, for: .record(index))
    }

    /// Starts to record packets.
    func start(_ log: Logger) throws(PortError) {
        try monitor.start(log) { [index, sink] told in
            guard told.index == index, let (direction, packet) = told.packet else { return }
            sink(direction, packet.span)
        } ended: {
            log.warning("the recording ends here: \($0)")
        }
    }

    /// Ends it after the packets that the kernel has already sent.
    func close() { monitor.close() }
}
