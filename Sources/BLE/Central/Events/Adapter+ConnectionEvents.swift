import BLECore
import HCISocket

extension Adapter {
    func watchConnections(into buffer: StreamBuffer<ConnectionEvent>) {
        if let end { return buffer.finish(.failure(end)) }
        let number = callers.connections.add(buffer)
        whenEnded(buffer) { $0.callers.connections.remove(number) }
    }

    /// Reports a link that is ready for its user. Each link is reported once.
    func noteConnected(_ user: LinkUser) {
        guard let link = links[user.link], link.reported == nil else { return }
        let id = Peripheral.Identifier(link.identity)
        link.reported = id
        callers.connections.emit(.connected(id))
    }

    /// Reports that a reported link has ended, or has no users any more. A pairing can have changed the
    /// peripheral's identity meanwhile; both events have the same identifier.
    func noteDisconnected(_ link: Link, _ reason: DisconnectReason) {
        guard let id = link.reported.take() else { return }
        callers.connections.emit(.disconnected(id, reason))
    }

    /// Reports that a request to connect has failed.
    func noteFailure(to peer: DeviceAddress, _ error: BLEError) {
        callers.connections.emit(.failedToConnect(identifier(of: peer), error))
    }
}

extension CentralManager {
    /// Returns a stream of the connection events of this process's peripherals from now on, whichever manager
    /// connected to them. The stream ends with `BLEError.overflow` when its consumer is more than 4,096 events
    /// behind. It ends with the adapter.
    ///
    /// ```swift
    /// for try await event in central.connectionEvents() { print(event) }
    /// ```
    public func connectionEvents() -> BoundedStream<ConnectionEvent> {
        let buffer = StreamBuffer<ConnectionEvent>(.overflow(limit: 4096), merge: { AnyHashable($0.id) })
        suspension.adopt(buffer)
        adapter.loop.execute { [adapter] in
            adapter.assumeIsolated { $0.watchConnections(into: buffer) }
        }
        return BoundedStream(buffer)
    }
}
