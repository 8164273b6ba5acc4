import BLECore
import HCI

/// A port that reports every packet that goes through it, as a line: `-> 01030c00` from the host, `<- …` to it.
/// Wraps any other.
package final class TracingPort: PacketPort {
    private let inner: any PacketPort
    private let trace: @Sendable (String) -> Void

    /// A port like `inner`, which this one owns. `trace` runs on the loop and must not block.
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

    /// Traces one packet, and sends it to the inner port.
    package func send(_ packet: Span<UInt8>) {
        trace("-> \([UInt8](copying: packet).hex)")
        inner.send(packet)
    }

    /// The most octets of a packet that `send` takes.
    package var maximumSent: Int { inner.maximumSent }

    /// Hands out the packets that have come already.
    package func readNow() { inner.readNow() }

    package func close() { inner.close() }

    /// Ends the port after the packets that have come already.
    package func closeAfterReading() { inner.closeAfterReading() }
}
