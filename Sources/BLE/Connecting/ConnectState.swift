import BLECore
import HCISocket

/// Numbers the attempts to connect.
struct ConnectAttempt: Hashable, Sendable {
    let number: UInt64
}

/// The connections that this process is making. A controller makes one at a time, so the others wait; the
/// kernel has its own order.
struct ConnectState {
    struct Attempt {
        let id: ConnectAttempt
        let peer: DeviceAddress
        let options: ConnectionOptions
        /// When the kernel was asked.
        var asked = Instant.zero
    }

    var nextID: UInt64 = 0
    /// Attempts for the controller, the first of them under way.
    var queue: [Attempt] = []
    /// Whether the controller was told to connect and has not told the outcome yet.
    var isUnderWay = false
    /// Attempts that the kernel makes.
    var kernel: [ConnectAttempt: PendingConnection] = [:]
}
