import ATT
import BLECore
import GATTClient

@testable import BLE

extension Adapter {
    /// The cached databases of this adapter's latest peers, by the peer's identity.
    var cachedDatabases: [DeviceAddress: CachedDatabase] { clients.cache.contents }

    /// Adds databases that were discovered before, as those of bonded peers are loaded from disk.
    func restoreDatabases(_ databases: [DeviceAddress: CachedDatabase]) {
        for (peer, cached) in databases { clients.cache.keep(cached, of: peer) }
    }

    /// Forgets the database of a peer, as when its bond is removed.
    func forgetDatabase(of peer: DeviceAddress) { clients.cache.forget(peer) }
}

extension PeripheralManager {
    /// Whether any central has subscribed to a characteristic.
    func hasSubscribers(_ handle: AttributeHandle) async -> Bool {
        await !adapter.server.gatt.subscribers(of: handle).isEmpty
    }
}
