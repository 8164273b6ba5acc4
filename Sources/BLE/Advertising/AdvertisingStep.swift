import BLECore
import HCI

/// Names an advertisement of an adapter; never used twice.
struct AdvertisingID: Hashable, Sendable {
    let number: UInt64
}

/// What the radio is to do next for the advertisements of this process.
enum AdvertisingStep: Hashable {
    /// Put an advertisement on air.
    case begin(Beginning)
    /// Give a set that is on air other data.
    case change(AdvertisingID, AdvertisingHandle, AdvertisingRequest)
    /// Take a set off the air, and leave all else as it is.
    case pause(AdvertisingHandle)
    /// Take a set off the air and remove it.
    case end(AdvertisingHandle)

    /// An advertisement that goes on air.
    struct Beginning: Hashable {
        let id: AdvertisingID
        let set: AdvertisingHandle
        let request: AdvertisingRequest
        /// When the controller is to end it by itself; nil when it shall or can not.
        let duration: Duration?
        /// What the radio has on the set before.
        let before: Before
    }

    /// What the radio has on a set before an advertisement begins on it.
    enum Before: Hashable {
        /// Nothing of ours.
        case nothing
        /// The same advertisement, off the air.
        case off
        /// The same advertisement as it shall be, off the air, while its periodic train goes on.
        case train
        /// The same advertisement, on air with other parameters or data.
        case on
    }
}
