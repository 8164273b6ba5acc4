import ATT
import BLECore
import GATTServer

/// The server of this host, and who listens to what happens on it.
struct ServerState {
    /// Answers the requests of all links; before anything is published, with errors.
    var gatt: GATTServer
    /// Whether links of centrals are wanted.
    var isPublished = false
    var listeners: [UInt64: StreamBuffer<PeripheralEvent>] = [:]
    var nextListener: UInt64 = 0

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

extension CentralID {
    init(_ link: LinkID) { self.init(rawValue: link.number) }
}
