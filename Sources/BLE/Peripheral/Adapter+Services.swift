import ATT
import BLECore
import GATTServer
import Logging

/// Services that come and go while links are up.
extension Adapter {
    /// Publishes more services. Clients that asked for it are told by Service Changed.
    func add(_ services: [GATTService]) throws(BLEError) -> AttributeRange? {
        if !server.isPublished { try publish([], GenericServices(), GATTServer.Configuration()) }
        do throws(DatabaseError) {
            let kept = server.kept?.state.value
            let known = Set(server.gatt.database.attributes.map(\.handle))
            let range = try server.gatt.add(
                services, like: kept?.services ?? [], above: kept?.highest ?? .none)
            keepServices(beside: known)
            tellServiceChanges()
            return range
        } catch {
            throw .database(error)
        }
    }

    /// Takes a service back. Clients that asked for it are told by Service Changed.
    func removeService(at handle: AttributeHandle) throws(BLEError) {
        if let end { throw end }
        do throws(DatabaseError) {
            try server.gatt.remove(handle)
        } catch {
            throw .database(error)
        }
        forgetService(at: handle)
        tellServiceChanges()
    }

    /// Sends each client what it does not know yet.
    func tellServiceChanges() {
        tellServerEvents()
        for link in links.values { tellServiceChange(on: link) }
    }

    private func tellServiceChange(on link: Link) {
        guard let change = server.gatt.serviceChange(for: ClientID(link.id)) else { return }
        do throws(ATTLimitError) {
            link.serviceChange = try link.bearer.indicate(change.handle, value: change.value)
            pumpSoon(link)
        } catch {
            // Four octets fit any MTU, so its queue of indications is full, which only a peer that confirms
            // nothing brings about; its link ends by the time limit.
            log.warning("\(link.peer) is not told of changed services: \(error)")
        }
    }

    func serviceChangeConfirmed(on link: Link) {
        link.serviceChange = nil
        server.gatt.confirmServiceChange(for: ClientID(link.id))
        tellServiceChange(on: link)
    }
}
