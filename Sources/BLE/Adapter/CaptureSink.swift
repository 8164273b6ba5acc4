import BLECore

/// Which way a packet went, as the host sees it.
public enum PacketDirection: Hashable, Sendable {
    /// From the host to the controller.
    case sent
    /// From the controller to the host.
    case received
}

/// Takes every HCI packet of an adapter, in H4 form, on the adapter's loop. It must not block.
public typealias CaptureSink = @Sendable (PacketDirection, Span<UInt8>) -> Void
