import BLECore
import HCI
import HCISocket
import Logging

/// The kernel's monitor channel: all packets of all adapters, of any process, and what else the kernel
/// reports. It needs CAP_NET_RAW.
package final class KernelMonitor: Sendable {
    private let port: any PacketPort

    /// Opens the channel. `operation` names its purpose in errors.
    package convenience init(on loop: EventLoop = .shared, for operation: BLEError.KernelOperation)
        throws(BLEError)
    {
        try self.init(of: LinuxKernel(), on: loop, for: operation)
    }

    init(of kernel: any Kernel, on loop: EventLoop, for operation: BLEError.KernelOperation) throws(BLEError)
    {
        do throws(PortError) {
            port = try kernel.monitor(on: loop)
        } catch {
            throw .kernel(error, operation: operation, kernel.files)
        }
    }

    /// Passes each packet from now on to `receive`. Calls `ended` when the channel ends by itself. Call it on the loop.
    package func start(
        _ log: Logger, receive: @escaping @Sendable (MonitorPacket) -> Void,
        ended: @escaping @Sendable (PortError) -> Void
    ) throws(PortError) {
        try port.start(
            PacketPortHandlers(
                receive: { octets in
                    do throws(DecodeError) {
                        receive(try MonitorPacket(octets))
                    } catch {
                        log.warning("not recorded: \(error)")
                    }
                }, writable: {}, closed: ended,
                lost: { count in
                    log.warning(
                        "\(count) packets were not recorded, because they came faster than they were read")
                }))
    }

    /// Closes the channel after reading the packets that the kernel has already sent. Call it on the loop.
    package func close() { port.closeAfterReading() }
}

/// Passes all packets of one kernel adapter to a recording, whatever their origin: this host's commands, and
/// the links and scans of the kernel. Confined to its adapter.
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
        try monitor.start(log) { [index, sink] monitored in
            guard monitored.index == index, let (direction, packet) = monitored.packet else { return }
            sink(direction, packet.span)
        } ended: {
            log.warning("the recording ends here: \($0)")
        }
    }

    /// Ends the recording after the packets that the kernel has already sent.
    func close() { monitor.close() }
}
