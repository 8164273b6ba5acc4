import ATT
import BLECore
import GATTServer

/// The server of this host, what it keeps, and who listens to what happens on it.
struct ServerState {
    /// Answers the requests of all links; before anything is published, with errors.
    var gatt = GATTServer(.empty)
    /// Values on their way to centrals.
    var updates = OpenUpdates()
    /// The streams of what centrals do.
    var listeners = Watchers<PeripheralEvent>()
    /// What is kept for the next process; nil: nothing.
    private(set) var kept: KeptServing?
    /// Whether links of centrals are wanted.
    private(set) var isPublished = false
    /// Whether the Device Name is the name that is advertised, since the application has given none.
    private var isNamedByAdvertising = false
    /// The name of the connectable advertisement that was started last.
    private var advertisedName: String?
    private var unsaved: Unsaved = []

    func emit(_ event: PeripheralEvent) { listeners.emit(event) }
}

// MARK: - Services

extension ServerState {
    /// Takes services in place of those before.
    mutating func publish(
        _ database: AttributeDatabase, _ options: ServerOptions, isNamedByAdvertising: Bool
    ) throws(AttributeValueError) {
        gatt.publish(database, options)
        isPublished = true
        self.isNamedByAdvertising = isNamedByAdvertising
        try setDeviceName()
    }

    /// A connectable advertisement has this name from now on.
    mutating func advertises(as name: String) throws(AttributeValueError) {
        advertisedName = name
        try setDeviceName()
    }

    /// Makes the name that is advertised the Device Name, if the application has given none (Core
    /// Specification 5.4, Vol 3, Part C, 12.1).
    private mutating func setDeviceName() throws(AttributeValueError) {
        guard isNamedByAdvertising, let advertisedName,
            let handle = gatt.database.valueHandle(of: .deviceName, in: .genericAccess)
        else { return }
        try gatt.setValue(Array(advertisedName.utf8), of: handle)
    }
}

// MARK: - What is kept

extension ServerState {
    /// Where something is to be written.
    struct Unsaved: OptionSet {
        let rawValue: UInt8

        static let server = Unsaved(rawValue: 1 << 0)
        static let bonds = Unsaved(rawValue: 1 << 1)
    }

    /// What changes is kept from now on. Gives false if that is so already.
    mutating func keep(_ kept: KeptServing) -> Bool {
        guard self.kept == nil else { return false }
        self.kept = kept
        return true
    }

    /// Stops keeping the server's state.
    mutating func stopKeeping() { kept = nil }

    /// Something was changed that the disk does not have yet.
    mutating func note(_ change: Unsaved) { unsaved.insert(change) }

    /// What was changed since this was asked last.
    mutating func takeUnsaved() -> Unsaved {
        defer { unsaved = [] }
        return unsaved
    }
}

extension ClientID {
    init(_ link: LinkID) { self.init(rawValue: link.number) }
}
