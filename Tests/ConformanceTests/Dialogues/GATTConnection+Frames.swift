import ATT
import BLECore
import GATT

extension GATTConnection {
    /// The next PDU.
    mutating func frame(at now: Instant = .zero) -> [UInt8]? {
        var isThere = false
        let frame = [UInt8](capacity: ATTMTU.maximum.octets) { isThere = nextFrame(into: &$0, at: now) }
        return isThere ? frame : nil
    }
}
