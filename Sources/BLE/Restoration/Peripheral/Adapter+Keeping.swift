import ATT
import BLECore
import GATT
import GATTServer
import HCISocket
import Logging

/// The state that an adapter's server keeps for the next process.
struct KeptServing: Sendable {
    let state: KeptState<ServingState>
    /// Whether values that this program sets are kept.
    let keepsUpdates: Bool
}

extension Adapter {
    /// Keeps the server's changes from now on.
    func keepServing(_ kept: KeptServing) throws(BLEError) {
        if let end { throw end }
        guard server.keep(kept) else { throw .invalidRequest(.serverRestored) }
        for link in links { link.gatt.holdsChanges = true }
    }

    /// Restores the kept values of services that were just published, whose attributes are not in `known`,
    /// and keeps the handles of all services.
    func keepServices(beside known: Set<AttributeHandle> = []) {
        guard let kept = server.kept else { return }
        for (handle, value) in kept.state.value.values.sorted(by: { $0.key < $1.key })
        where !known.contains(handle) && server.gatt.stores(handle) {
            // A value that no longer fits stays as the program has set it.
            try? server.gatt.setValue(value, of: handle)
        }
        kept.state.change { $0.published(server.gatt.database.records) }
    }

    /// Whether services are missing that an earlier process had published.
    var lacksServices: Bool {
        let kept = server.kept?.state.value.services ?? []
        return kept.contains { server.gatt.database[$0.handle] == nil }
    }

    /// Forgets a service that was removed.
    func forgetService(at handle: AttributeHandle) { server.kept?.state.change { $0.removed(handle) } }

    /// Keeps values that the program has set. The disk follows, and `saveServer` waits for it.
    func keepUpdates(_ values: [ValueUpdate]) {
        guard let kept = server.kept, kept.keepsUpdates else { return }
        let stored = values.filter { server.gatt.stores($0.handle) }.map { ($0.handle, $0.value) }
        guard !stored.isEmpty else { return }
        kept.state.changeSoon { $0.keep([AttributeHandle: [UInt8]](stored) { $1 }) }
    }

    /// Keeps a value that a central has written.
    func keepWrite(of handle: AttributeHandle) {
        guard let kept = server.kept, server.gatt.stores(handle) else { return }
        guard let value = server.gatt.database[handle]?.value else { return }
        server.note(.server)
        kept.state.changeSoon { $0.keep([handle: value]) }
    }

    /// Waits until the state that the server keeps is on the disk.
    func saveServer() async throws(BLEError) { try await server.kept?.state.flush() }

    /// Keeps the subscriptions and features of a bonded central after a change. If the bonds are on a disk,
    /// they are written at once, not only when the link ends.
    func keepClient(of link: Link) {
        guard stateFolder != nil, link.protection.isRecognized,
            let record = server.gatt.record(of: ClientID(link.id))
        else { return }
        remember(record, of: link)
        server.note(.bonds)
    }

    /// Releases the response to a write once the changes of that write are on the disk.
    func release(_ response: HeldResponse, on link: Link) {
        let unsaved = server.takeUnsaved()
        guard !unsaved.isEmpty else { return link.gatt.release(response, isKept: true) }
        let id = link.id
        Task(executorPreference: loop) { await self.release(response, on: id, after: unsaved) }
    }

    private func release(
        _ response: HeldResponse, on id: LinkID, after unsaved: ServerState.Unsaved
    ) async {
        let isKept = await save(unsaved)
        guard let link = links[id] else { return }
        link.gatt.release(response, isKept: isKept)
        pump(link)
    }

    private func save(_ unsaved: ServerState.Unsaved) async -> Bool {
        do throws(BLEError) {
            if unsaved.contains(.server) { try await saveServer() }
            if unsaved.contains(.bonds) {
                let bonds = security.options.bonds
                try await loop.withClockHeld { () throws(BLEError) in try await bonds.flush() }
            }
            return true
        } catch {
            log.error("what a central has written is not on the disk: \(error)")
            return false
        }
    }
}

extension Adapter {
    /// Keeps the state of all managers of this adapter that restore theirs on the disk as it is: what ends in
    /// this process from now on is still restored at the next start. A program calls this when it is about to
    /// end; `withAdapter` does so when a signal ends the program.
    public nonisolated func keepForNextStart() { leaving.withLock { $0 = true } }
}
