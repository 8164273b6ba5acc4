import BLECore
import HCI

/// The controller's filter accept list (Core Specification 5.4, Vol 4, Part E, 7.8.14 to 7.8.17): there is
/// one, scans and connection attempts both filter by it, and it must not change while either does.
///
/// Connection attempts have priority. A scan filters by the list when no connection attempt needs it;
/// otherwise it receives all advertising and leaves the choice to its consumers' filters.
struct AcceptList {
    /// Whether connection attempts use the list.
    var isForConnecting = false
    /// The number of devices that fit into the list; also 0 for a list that is not reliable.
    var capacity = 0
    /// The devices on the list, as far as this host knows; nil when the list must be cleared first.
    private(set) var contents: Set<DeviceAddress>? = []

    /// Returns whether a scan can filter by `devices`.
    func hasRoom(forScanOf devices: Set<DeviceAddress>) -> Bool {
        !isForConnecting && !devices.isEmpty && devices.count <= capacity
    }

    /// Records that the controller was reset, which empties the list. It has room for `capacity` devices.
    mutating func wasReset(holding capacity: Int) {
        self.capacity = capacity
        contents = []
    }

    /// Returns the changes after which the list holds exactly `devices`; no changes when it already does. The
    /// contents are unknown until `settle`.
    mutating func begin(_ devices: Set<DeviceAddress>) -> Changes {
        defer { contents = nil }
        guard let contents else { return Changes(clears: true, additions: devices.sorted()) }
        if contents == devices { return Changes() }
        // Clearing is one command, and the list is seldom long.
        return contents.isSubset(of: devices)
            ? Changes(additions: devices.subtracting(contents).sorted())
            : Changes(clears: true, additions: devices.sorted())
    }

    /// Records that the controller's list holds `devices`.
    mutating func settle(_ devices: Set<DeviceAddress>) { contents = devices }

    /// Changes to the list, to be made in the order of the properties.
    struct Changes {
        var clears = false
        var additions: [DeviceAddress] = []
    }
}
