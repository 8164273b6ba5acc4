import ATT
import BLECore
import GATTServer

/// The server of this host, the state that it keeps, and the streams of its events.
struct ServerState {
    /// Answers the requests of all links; with errors before anything is published.
    var gatt = GATTServer(.empty)
    /// Values on their way to centrals.
    var updates = OpenUpdates()
    /// The streams of the events of centrals.
    var listeners = Watchers<PeripheralEvent>()
    /// The state that is kept for the next process; nil if none is kept.
    private(set) var kept: KeptServing?
    /// Whether services were published, so that links of centrals are accepted.
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
    /// Publishes services in place of the earlier ones.
    mutating func publish(
        _ database: AttributeDatabase, _ options: ServerOptions, isNamedByAdvertising: Bool
    ) throws(AttributeValueError) {
        gatt.publish(database, options)
        isPublished = true
        self.isNamedByAdvertising = isNamedByAdvertising
        try setDeviceName()
    }

    /// Notes the name of a connectable advertisement that starts or changes.
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
    /// The state that has changes to save.
    struct Unsaved: OptionSet {
        let rawValue: UInt8

        static let server = Unsaved(rawValue: 1 << 0)
        static let bonds = Unsaved(rawValue: 1 << 1)
    }

    /// Starts to keep changes. Returns false if they are kept already.
    mutating func keep(_ kept: KeptServing) -> Bool {
        guard self.kept == nil else { return false }
        self.kept = kept
        return true
    }

    /// Stops keeping the server's state.
    mutating func stopKeeping() { kept = nil }

    /// Notes a change that is not on the disk yet.
    mutating func note(_ change: Unsaved) { unsaved.insert(change) }

    /// Returns the changes since the last call.
    mutating func takeUnsaved() -> Unsaved {
        defer { unsaved = [] }
        return unsaved
    }
}

extension ClientID {
    init(_ link: LinkID) { self.init(rawValue: link.number) }
}
