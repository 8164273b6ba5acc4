import HCISocket

/// The folder of the state that managers restore, and the names that are valid in it.
enum RestorationFolder {
    /// Opens the state that a manager of that name and role has kept in a state folder; nil for that of the
    /// adapter's bonds.
    static func open<Value: StateText>(
        _ name: String, _ role: String, in folder: String?, of adapter: Adapter, _ disk: Disk
    ) async throws(BLEError) -> KeptState<Value> {
        try check(name)
        var state = folder
        if state == nil { state = await adapter.stateFolder }
        guard let state else { throw .restoration(.noFolder) }
        let (file, folder) = ("\(name).\(role)", "\(state)/restoring")
        guard let kept = try await KeptState<Value>.open(file, in: folder, disk, for: adapter.loop) else {
            let owner = try await offLoop { () throws(BLEError) in
                StateFile.owner(of: file, in: folder, disk)
            }
            throw .restoration(.inUse(name, process: owner))
        }
        return kept
    }

    /// Throws when the name is not valid. All letters have to be ASCII, so that two names are two files on
    /// every file system, except one that ignores case.
    static func check(_ name: String) throws(BLEError) {
        let isPlain = name.utf8.allSatisfy { octet in
            switch UnicodeScalar(octet) {
            case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_": true
            default: false
            }
        }
        guard isPlain, (1...64).contains(name.utf8.count), !name.hasPrefix(".") else {
            throw .restoration(.name(name))
        }
    }
}

extension BondStore {
    /// The state folder that contains the bonds; nil when they are kept in memory.
    package var stateFolder: String? { folder.map { String($0.path.dropLast("/bonds".count)) } }
}

extension Adapter {
    /// The state folder that contains this adapter's bonds; nil when they are kept in memory.
    package var stateFolder: String? { security.options.bonds.stateFolder }
}
