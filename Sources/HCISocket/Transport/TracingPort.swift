import BLECore
import HCI

/// A port that wraps another port and reports every packet as a line: `-> 01030c00` from the host, `<- …` to
/// the host.
package final class TracingPort: PacketPort {
    private let inner: any PacketPort
    private let trace: @Sendable (String) -> Void

    /// Creates a port that takes ownership of `inner`. `trace` runs on the loop and must not block.
    package init(_ inner: any PacketPort, _ trace: @escaping @Sendable (String) -> Void) {
        self.inner = inner
        self.trace = trace
    }

    package var isWritable: Bool { inner.isWritable }

    package func start(_ handlers: PacketPortHandlers) throws(PortError) {
        var mine = handlers
        mine.receive = { [trace] packet in
            trace("<- \([UInt8](copying: packet).hex)")
            handlers.receive(packet)
        }
        mine.closed = { [trace] error in
            trace("<- \(error)")
            handlers.closed(error)
        }
        try inner.start(mine)
    }

    /// Traces one packet and sends it to the inner port.
    package func send(_ packet: Span<UInt8>) {
        trace("-> \([UInt8](copying: packet).hex)")
        inner.send(packet)
    }

    /// The maximum size of a packet that `send` accepts, in octets.
    package var maximumSent: Int { inner.maximumSent }

    /// Delivers the packets that have already arrived.
    package func readNow() { inner.readNow() }

    package func close() { inner.close() }

    /// Closes the port after delivering the packets that have already arrived.
    package func closeAfterReading() { inner.closeAfterReading() }
}
