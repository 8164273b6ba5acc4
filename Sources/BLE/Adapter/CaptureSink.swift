import BLECore
import HCI

/// Takes every HCI packet of an adapter, in H4 form, on the adapter's loop. It must not block.
public typealias CaptureSink = @Sendable (HCIDirection, Span<UInt8>) -> Void
