import BLECore
import HCI

/// The controller's filter accept list (Core Specification 5.4, Vol 4, Part E, 7.8.14 to 7.8.17): there is
/// one, scans and connection attempts both filter by it, and it must not change while either does.
///
/// Connecting goes first. A scan filters by the list when no connection attempt needs it; else it receives all
/// advertising and leaves the choice to its consumers' filters.
struct AcceptList {
    /// Whether connection attempts have the list.
    var isForConnecting = false
    /// How many devices fit; 0 also for a list that is not to be relied on.
    var capacity = 0
    /// The devices on it, as far as this host knows; nil: it is to be cleared first.
    private(set) var contents: Set<DeviceAddress>? = []

    /// Whether a scan may filter by `devices`.
    func hasRoom(forScanOf devices: Set<DeviceAddress>) -> Bool {
        !isForConnecting && !devices.isEmpty && devices.count <= capacity
    }

    /// The controller was reset, which empties the list. It has room for `capacity` devices.
    mutating func wasReset(holding capacity: Int) {
        self.capacity = capacity
        contents = []
    }

    /// What makes the list hold `devices` and nothing else; nothing when it does. What it holds is unknown
    /// until `settle`.
    mutating func begin(_ devices: Set<DeviceAddress>) -> Changes {
        defer { contents = nil }
        guard let contents else { return Changes(clears: true, additions: Array(devices)) }
        if contents == devices { return Changes() }
        // Clearing is one command; the list is seldom long.
        return contents.isSubset(of: devices)
            ? Changes(additions: Array(devices.subtracting(contents)))
            : Changes(clears: true, additions: Array(devices))
    }

    /// Records that the controller's list holds `devices`.
    mutating func settle(_ devices: Set<DeviceAddress>) { contents = devices }

    /// Changes to the list, in this order.
    struct Changes {
        var clears = false
        var additions: [DeviceAddress] = []
    }
}
