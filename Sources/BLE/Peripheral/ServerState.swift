import ATT
import BLECore
import GATTServer

/// The server of this host, and who listens to what happens on it.
struct ServerState {
    /// Answers the requests of all links; before anything is published, with errors.
    var gatt: GATTServer
    /// Whether links of centrals are wanted.
    var isPublished = false
    /// Whether the Device Name is the name that is advertised, since the application has given none.
    var isNamedByAdvertising = false
    /// The name of the connectable advertisement that was started last.
    var advertisedName: String?
    /// What is kept for the next process; nil: nothing.
    var kept: KeptServing?
    /// What was changed since the last response to a write and the disk does not have yet.
    var unsaved: Unsaved = []
    var listeners: [UInt64: StreamBuffer<PeripheralEvent>] = [:]
    var nextListener: UInt64 = 0
    /// Values on their way to centrals.
    var updates = OpenUpdates()

    /// Where something is to be written.
    struct Unsaved: OptionSet {
        let rawValue: UInt8

        static let server = Unsaved(rawValue: 1 << 0)
        static let bonds = Unsaved(rawValue: 1 << 1)
    }

    init() { gatt = GATTServer(.empty) }

    func tell(_ event: PeripheralEvent) {
        for listener in listeners.values { listener.yield(event) }
    }

    mutating func finish(_ end: Result<Void, BLEError>) {
        let all = listeners.values
        listeners.removeAll()
        for listener in all { listener.finish(end) }
    }
}

extension ClientID {
    init(_ link: LinkID) { self.init(rawValue: link.number) }
}
