import BLECore
import GATT
import GATTServer

/// Services that come and go while links are up.
extension Adapter {
    /// Publishes more services. Clients that asked for it receive Service Changed.
    func add(_ services: [GATTService]) throws(BLEError) -> AttributeRange? {
        if !server.isPublished { try publish([], GenericServices(), ServerOptions()) }
        do throws(DatabaseError) {
            let kept = server.kept?.state.value
            let known = Set(server.gatt.database.attributes.map(\.handle))
            let range = try server.gatt.add(
                services, like: kept?.services ?? [], above: kept?.highest ?? .none)
            keepServices(beside: known)
            reportServicesChanged()
            return range
        } catch {
            throw .database(error)
        }
    }

    /// Takes a service back. Clients that asked for it receive Service Changed.
    func removeService(at handle: AttributeHandle) throws(BLEError) {
        if let end { throw end }
        do throws(DatabaseError) {
            try server.gatt.remove(handle)
        } catch {
            throw .database(error)
        }
        forgetService(at: handle)
        reportServicesChanged()
    }

    /// Sends Service Changed to clients that asked for it, to each when it has confirmed the one before.
    func reportServicesChanged() {
        reportServerEvents()
        for link in links.values { reportServicesChanged(on: link) }
    }

    func reportServicesChanged(on link: Link) {
        link.gatt.servicesChanged()
        pumpSoon(link)
    }
}
