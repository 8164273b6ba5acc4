import BLECore
import GATT
import HCISocket
import Logging

/// The devices that this host knows, and how they are connected.
extension Adapter {
    func identifier(of address: DeviceAddress) -> Peripheral.Identifier {
        Peripheral.Identifier(identity(behind: address))
    }

    /// Returns the link to a device, by its identity address or by its present address.
    func link(to peer: DeviceAddress) -> Link? {
        let all = links.filter { $0.peer == peer || $0.identity == peer }
        return all.first(where: \.isUsable) ?? all.first
    }

    /// Ends the link to a device for all its users.
    func disconnect(_ id: Peripheral.Identifier, _ cause: DisconnectCause) async {
        if let link = link(to: id.address) { await endLink(link.id, cause) }
    }

    /// Whether the device was of use as a server on its link, which can have ended since.
    func hasServed(on id: LinkID) -> Bool {
        links[id]?.gatt.session.hasServed ?? clients.hasServed(on: id)
    }

    /// Returns the name of a device, as far as it is known without a request.
    func name(of address: DeviceAddress) -> String? {
        let identity = identity(behind: address)
        return radio.name(of: identity) ?? radio.name(of: address) ?? bondRecord(of: identity)?.name
    }

    func state(of id: Peripheral.Identifier) -> PeripheralState {
        if let link = link(to: id.address) { return link.isUsable ? .connected : .disconnecting }
        return radio.isConnecting(to: id.address) ? .connecting : .disconnected
    }

    func state(of user: LinkUser) -> PeripheralState {
        guard let link = links[user.link], link.users.contains(user) else { return .disconnected }
        return link.isUsable ? .connected : .disconnecting
    }

    func known(_ ids: [Peripheral.Identifier]) -> [KnownPeripheral] {
        ids.map { known($0) }.filter { $0.id.isLasting || $0.state != .disconnected }
    }

    private func known(_ id: Peripheral.Identifier) -> KnownPeripheral {
        let bond = bondRecord(of: id.address)
        return KnownPeripheral(
            id: id, state: state(of: id), linkOwner: link(to: id.address) == nil ? nil : .thisProcess,
            name: name(of: id.address), isBonded: bond != nil)
    }

    func connected(with services: [BluetoothUUID]) async throws(BLEError) -> [KnownPeripheral] {
        if let end { throw end }
        // Nothing is asked of a bonded device before it has proved to be that device.
        let usable = links.filter {
            $0.isUsable && ($0.security.isBonded || bond(with: $0.peer) == nil)
        }
        .map(\.id)
        // In parallel, because a single peer that does not answer takes half a minute.
        let offering = await withTaskGroup(of: LinkID?.self) { group in
            for id in usable { group.addTask { await self.offers(services, id) ? id : nil } }
            var offering: [LinkID] = []
            for await id in group { if let id { offering.append(id) } }
            return offering
        }
        if Task.isCancelled { throw .cancelled }
        let found = offering.sorted { $0.number < $1.number }.compactMap { links[$0] }
            .map { known(Peripheral.Identifier($0.identity)) }
        return found + (await foreignLinks())
    }

    /// Returns whether the server of a link has one of the services.
    private func offers(_ services: [BluetoothUUID], _ id: LinkID) async -> Bool {
        guard !services.isEmpty else { return true }
        do throws(BLEError) {
            return try await discover(on: id).services.contains { services.contains($0.uuid) }
        } catch {
            log.info("the services of a connected device are not known: \(error)")
            return false
        }
    }

    /// Returns the links that other programs have on a kernel adapter.
    private func foreignLinks() async -> [KnownPeripheral] {
        guard let kernel else { return [] }
        do throws(BLEError) {
            let octets = try await kernel.management.request(
                .getConnections, index: kernel.index, operation: .listLinks(kernel.index))
            guard let listed = try? Management.Connections(octets) else { return [] }
            return listed.peers.filter { link(to: $0) == nil }.map { peer in
                var known = known(identifier(of: peer))
                known.linkOwner = .otherProcess
                return known
            }
        } catch {
            log.info("links of other programs are not listed: \(error)")
            return []
        }
    }
}
