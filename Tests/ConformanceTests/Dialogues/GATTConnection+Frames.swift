import ATT
import BLECore
import GATT
import TestSupport

extension GATTConnection {
    /// Returns the next PDU.
    mutating func frame(at now: Instant = .zero) -> [UInt8]? {
        written { nextFrame(into: &$0, at: now) }
    }
}
