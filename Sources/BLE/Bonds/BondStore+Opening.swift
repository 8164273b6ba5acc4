import BLECore
import HCISocket
import Logging

extension BondStore {
    /// The bonds in a folder of state, made if it is missing: `bonds` in it belongs to this library. Files that are
    /// damaged, or of a later version, are listed in `problems`; the others are read all the same.
    ///
    /// Other processes may use the folder at the same time. What they change is noticed through `loop`; without one it
    /// is seen when this process changes the same bond.
    public static func open(
        _ path: String, on loop: EventLoop? = .shared, clock: @escaping @Sendable () -> Timestamp = { .now }
    ) async throws(BLEError) -> BondStore {
        try await open(path, Disk(), on: loop, clock: clock)
    }

    static func open(
        _ path: String, _ disk: Disk, on loop: EventLoop? = nil,
        clock: @escaping @Sendable () -> Timestamp = { .now }
    ) async throws(BLEError) -> BondStore {
        try await offLoop { () throws(BLEError) in
            do throws(StateError) {
                return try await open(BondFolder(state: path, disk), on: loop, clock: clock)
            } catch {
                throw .bonds(error)
            }
        }
    }

    private static func open(
        _ folder: BondFolder, on loop: EventLoop?, clock: @escaping @Sendable () -> Timestamp
    ) async throws(StateError) -> BondStore {
        // What changes while it is read is noticed, too.
        var watch: FolderWatch?
        var problem: StateError?
        if let loop {
            do throws(StateError) {
                watch = try await folder.watch(on: loop)
            } catch {
                problem = error
            }
        }
        let contents = try await folder.load()
        let store = BondStore(folder, problems: contents.problems, clock: clock)
        for problem in contents.problems { store.log.warning("\(problem)") }
        if let problem { store.log.warning("changes by other processes are not heard: \(problem)") }
        store.state.withLock { state in
            for record in contents.records { state.table.put(record) }
            for identity in contents.identities { state.identities[identity.address] = identity }
        }
        if let watch, let loop { store.listen(to: watch, on: loop) }
        return store
    }
}
