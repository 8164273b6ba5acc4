import BLECore
import HCISocket
import Logging
import SystemPackage

extension BondFolder {
    /// Which folder a number of the watch names.
    struct Watching {
        let watch: FolderWatch
        /// The watch's number of the folder `bonds`.
        let root: Int32
        var locals: [Int32: DeviceAddress] = [:]
    }

    /// Watches the folder from now on: hands over the watch, to be started.
    func watch(on loop: EventLoop) throws(StateError) -> FolderWatch {
        do throws(PortError) {
            let watch = try FolderWatch(on: loop)
            watching = Watching(watch: watch, root: try watch.add(path))
        } catch {
            throw StateError(error)
        }
        guard let watch = watching?.watch else { throw .system(.noSuchFileOrDirectory, during: path) }
        for local in try locals() { try add(local) }
        return watch
    }

    /// The bonds that events are about.
    func bonds(_ events: [FolderWatch.Event], known: Set<BondID>) throws(StateError) -> Set<BondID> {
        guard let root = watching?.root else { return [] }
        var changed: Set<BondID> = []
        for event in events {
            switch event {
            case .lost:
                changed.formUnion(known)
                for local in try locals() {
                    try add(local)
                    changed.formUnion(try bonds(at: local))
                }
            case .changed(folder: root, let name):
                guard let local = BondFile.address(name) else { continue }
                // What came into a new folder before it was watched.
                try add(local)
                changed.formUnion(try bonds(at: local))
                changed.formUnion(known.filter { $0.local == local })
            case .changed(let number, let name):
                guard let local = watching?.locals[number], let peer = BondFile.peer(of: name, .bond) else {
                    continue
                }
                changed.insert(BondID(peer, at: local))
            // The folder above it reports that it is gone.
            case .gone: continue
            }
        }
        return changed
    }

    private func add(_ local: DeviceAddress) throws(StateError) {
        do throws(PortError) {
            guard let number = try watching?.watch.add(folder(of: local)) else { return }
            watching?.locals[number] = local
        } catch .system(.noSuchFileOrDirectory, _) {
            // It has gone again.
        } catch {
            throw StateError(error)
        }
    }
}

extension BondStore {
    /// Follows what other processes do to the folder, from now on and for as long as the store is held.
    func listen(to watch: FolderWatch, on loop: EventLoop) {
        loop.execute { [weak self, log] in
            do throws(PortError) {
                try watch.start { [weak self] events in
                    // File work is not the loop's.
                    Task.detached { [weak self] in
                        if let self, let folder { await heard(events, in: folder) }
                    }
                }
            } catch {
                log.warning("changes by other processes are not heard: \(error)")
            }
        }
    }

    private func heard(_ events: [FolderWatch.Event], in folder: isolated BondFolder) {
        let known = state.withLock { Set($0.table.records.keys) }
        do throws(StateError) {
            let outcome = try folder.records(try folder.bonds(events, known: known))
            take(outcome)
            restore(outcome.damaged)
        } catch {
            log.warning("changes by other processes are not read: \(error)")
        }
    }
}

extension BondStore {
    /// Bonds whose files were damaged are written anew: other processes see none. Not those that cannot be read again.
    private func restore(_ ids: Set<BondID>) {
        state.withLock { state in
            for id in ids where state.pending.operations[id] == nil {
                guard let record = state.table[id], record.isReadable else { continue }
                note(.update(record), of: id, in: &state)
            }
        }
    }
}

extension BondRecord {
    /// Whether its text is understood.
    fileprivate var isReadable: Bool {
        do throws(TextError) {
            return try BondRecord(TextReader.only(BondRecord.kind, in: text)).id == id
        } catch {
            return false
        }
    }
}

extension StateError {
    fileprivate init(_ error: PortError) {
        self = .system(error.errno ?? .ioError, during: "\(error)")
    }
}
