import ATT
import BLECore

extension ATTBearer {
    /// The next PDU.
    mutating func frame() -> [UInt8]? {
        var isThere = false
        let frame = [UInt8](capacity: ATTMTU.maximum.octets) { isThere = nextFrame(into: &$0) }
        return isThere ? frame : nil
    }
}
