import BLECore
import GATTClient
import HCISocket
import Logging
import SMP
import SystemPackage

/// The files of a bond store:
///
/// ```text
/// bonds/lock                                              held while files change
/// bonds/serial%3a%2fdev%2fttyACM0.address                 the address of an adapter that has none of its own
/// bonds/00:1B:DC:07:31:88-public/identity                 this host's, one for each of its addresses
/// bonds/00:1B:DC:07:31:88-public/C0:11:22:33:44:55-random.bond
/// bonds/00:1B:DC:07:31:88-public/C0:11:22:33:44:55-random.database
/// ```
///
/// A file is never changed: a new one is written beside it, flushed to the disk, and renamed to replace it,
/// so that a process that is killed leaves either the old or the new file. A process that writes a file reads
/// the existing one first, because another process may have changed it.
actor BondFolder {
    /// The folder `bonds` in the folder of all state.
    nonisolated let path: String
    private let disk: Disk
    private let claim: DiskClaim
    private let log = Logger(label: "ble.bonds")
    /// The watch that reports changes by other processes.
    private var watching: Watching?

    /// Opens the bonds in a state folder. Creates the folders that are missing.
    init(state: String, _ disk: Disk = Disk()) throws(StateError) {
        self.disk = disk
        path = "\(state)/bonds"
        try disk.makeFolders(path)
        claim = try disk.claim("\(path)/lock")
    }
}

// MARK: - Reading

extension BondFolder {
    /// The contents of a folder, as they were read.
    struct Contents: Sendable {
        var records: [BondRecord] = []
        var identities: [LocalIdentity] = []
        /// The errors of the files that could not be read.
        var problems: [StateError] = []
    }

    /// Reads all files. A damaged file is set aside and reported; the others are still read.
    func load() throws(StateError) -> Contents {
        try claim.holding { () throws(StateError) in try all() }
    }

    private func all() throws(StateError) -> Contents {
        var contents = Contents()
        for local in try locals() {
            do throws(StateError) {
                if let identity = try identity(at: local) { contents.identities.append(identity) }
            } catch {
                contents.problems.append(error)
            }
            for id in try bonds(at: local) {
                do throws(StateError) {
                    if let record = try record(id) { contents.records.append(record) }
                } catch {
                    contents.problems.append(error)
                }
            }
        }
        return contents
    }

    /// Returns the database of a peer; nil when none is stored.
    func database(of id: BondID) throws(BLEError) -> CachedDatabase? {
        try alone { () throws(StateError) in
            try read(file(.database, of: id)) { octets throws(TextError) in
                CachedDatabase(
                    try RemoteDatabase(TextReader.only(RemoteDatabase.kind, in: octets)), isBonded: true)
            }
        }
    }

    /// Returns the bonds as the folder has them now.
    func records(_ ids: Set<BondID>) throws(StateError) -> BondOutcome {
        try claim.holding { () throws(StateError) in
            var outcome = BondOutcome()
            var setAside = SetAside(folder: path, disk)
            for id in ids {
                do throws(StateError) {
                    let found = try record(id)
                    // The record in this process's memory stays in use.
                    if found == nil, try !setAside.files(of: id).isEmpty {
                        outcome.damaged.insert(id)
                    } else {
                        outcome.records[id] = .some(found)
                    }
                } catch {
                    if case .damaged = error { outcome.damaged.insert(id) }
                    log.warning("\(error)")
                }
            }
            return outcome
        }
    }

    /// Returns the addresses of this host that have a folder.
    func locals() throws(StateError) -> [DeviceAddress] {
        try disk.names(in: path).compactMap(BondFile.address)
    }

    /// Returns the bonds of an address that have a file.
    func bonds(at local: DeviceAddress) throws(StateError) -> [BondID] {
        try disk.names(in: folder(of: local)).compactMap { BondFile.peer(of: $0, .bond) }
            .map { BondID($0, at: local) }
    }

    private func record(_ id: BondID) throws(StateError) -> BondRecord? {
        try read(file(.bond, of: id)) { octets throws(TextError) in
            let record = try BondRecord(TextReader.only(BondRecord.kind, in: octets))
            guard record.id == id else { throw TextError(1, .bond(record.id)) }
            return record
        }
    }

    /// The files of bonds that were set aside, by this process or another. When a bond has such a file and no
    /// other, it was not removed, because removal deletes these files, too.
    private struct SetAside {
        private let folder: String
        private let disk: Disk
        private var known: [DeviceAddress: [DeviceAddress: [String]]] = [:]

        init(folder: String, _ disk: Disk) { (self.folder, self.disk) = (folder, disk) }

        /// Returns the set-aside files of a bond, as they were at the first call for its folder.
        mutating func files(of id: BondID) throws(StateError) -> [String] {
            if known[id.local] == nil {
                known[id.local] = try files(in: "\(folder)/\(BondFile.name(id.local))")
            }
            return known[id.local]?[id.peer] ?? []
        }

        private func files(in folder: String) throws(StateError) -> [DeviceAddress: [String]] {
            var files: [DeviceAddress: [String]] = [:]
            for name in try disk.names(in: folder) {
                let parts = name.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3, !name.hasSuffix(".new"),
                    let peer = BondFile.peer(of: parts[..<2].joined(separator: "."), .bond)
                else { continue }
                files[peer, default: []].append("\(folder)/\(name)")
            }
            return files
        }
    }

    private func identity(at address: DeviceAddress) throws(StateError) -> LocalIdentity? {
        try read("\(folder(of: address))/identity") { octets throws(TextError) in
            let identity = try LocalIdentity(TextReader.only(LocalIdentity.kind, in: octets))
            guard identity.address == address else {
                throw TextError(1, .identity(identity.address))
            }
            return identity
        }
    }

    /// Reads a file; returns nil when there is none. A malformed file is set aside, so that it is reported
    /// once and its replacement does not destroy it; a file of a later version stays in place.
    private func read<Value>(
        _ path: String, _ parse: ([UInt8]) throws(TextError) -> Value
    ) throws(StateError) -> Value? {
        guard let octets = try disk.contents(path) else { return nil }
        do throws(TextError) {
            return try parse(octets)
        } catch {
            if error.version == nil { try disk.rename(path, to: disk.freeName(path, suffix: "damaged")) }
            throw StateError(error, in: path)
        }
    }
}

// MARK: - Writing

extension BondFolder {
    /// Writes a batch, and returns the resulting state of the folder.
    func write(_ batch: BondBatch) throws(BLEError) -> BondOutcome {
        try alone { () throws(StateError) in try change(batch) }
    }

    /// Returns the identity that the folder has for the address of `made`; stores and returns `made` if there
    /// is none.
    func identity(orNew made: LocalIdentity) throws(BLEError) -> LocalIdentity {
        try alone { () throws(StateError) in
            if let known = try identity(at: made.address) { return known }
            try makeFolder(of: made.address)
            try replace([(made.text, "\(folder(of: made.address))/identity")])
            try disk.synchronize(folder(of: made.address))
            return made
        }
    }

    /// Returns the address that the folder has for the adapter of `made`; stores and returns `made` if there
    /// is none.
    func address(orNew made: StaticAddress) throws(BLEError) -> StaticAddress {
        try alone { () throws(StateError) in
            let file = "\(path)/\(BondFile.name(adapter: made.adapter))"
            let known = try read(file) { octets throws(TextError) in
                try StaticAddress(TextReader.only(StaticAddress.kind, in: octets))
            }
            if let known { return known }
            try replace([(made.text, file)])
            try disk.synchronize(path)
            return made
        }
    }

    /// Runs `body` while no other process changes the folder.
    private func alone<Value>(_ body: () throws(StateError) -> Value) throws(BLEError) -> Value {
        do throws(StateError) {
            return try claim.holding(body)
        } catch {
            throw .bonds(error)
        }
    }

    private func change(_ batch: BondBatch) throws(StateError) -> BondOutcome {
        var outcome = BondOutcome()
        var writes: [(octets: [UInt8], path: String)] = []
        var bonds: [String] = []
        var databases: [String] = []
        var folders: Set<DeviceAddress> = []
        var setAside = SetAside(folder: path, disk)
        for id in Set(batch.operations.keys).union(batch.reservations) {
            var record = try merged(batch.operations[id], into: id, or: batch.fallbacks[id], &setAside)
            if batch.reservations.contains(id) { outcome.reserved[id] = record?.reserveCounters() }
            outcome.records[id] = .some(record)
            folders.insert(id.local)
            if let record {
                writes.append((record.text, file(.bond, of: id)))
            } else {
                // The bond's own file is last: without it, another process takes a bond with set-aside files
                // for damaged.
                bonds += try setAside.files(of: id) + [file(.bond, of: id)]
                databases.append(file(.database, of: id))
            }
        }
        for (id, database) in batch.databases {
            let bonded = if let known = outcome.records[id] { known } else { try record(id) }
            guard bonded != nil else { continue }
            folders.insert(id.local)
            if let database {
                writes.append((database.database.text, file(.database, of: id)))
            } else {
                databases.append(file(.database, of: id))
            }
        }
        for local in folders { try makeFolder(of: local) }
        // Databases are removed first: the database of an earlier bond must not exist together with the next
        // bond.
        try replace(writes) { () throws(StateError) in
            for path in databases { try disk.remove(path) }
        }
        for path in bonds { try disk.remove(path) }
        for local in folders { try disk.synchronize(folder(of: local)) }
        return outcome
    }

    /// Returns the record to write for a bond that another process may have changed before; nil to remove the
    /// bond.
    private func merged(
        _ operation: BondOperation?, into id: BondID, or fallback: BondRecord?, _ setAside: inout SetAside
    ) throws(StateError) -> BondRecord? {
        // A bond that is removed need not be readable.
        if operation == .remove { return nil }
        var present: BondRecord?
        var isDamaged = false
        do throws(StateError) {
            present = try record(id)
        } catch .damaged {
            log.warning("a damaged bond with \(id) was set aside")
            isDamaged = true
        } catch .newer(let path, let version) {
            try disk.rename(path, to: disk.freeName(path, suffix: "version-\(version)"))
            isDamaged = true
        }
        if present == nil, !isDamaged { isDamaged = try !setAside.files(of: id).isEmpty }
        switch operation {
        case .insert(var record):
            if let present { record.inherit(from: present) }
            return record
        case .update(var record):
            // Another process may have removed the bond or paired with the peer again: the update is then
            // obsolete.
            guard let present else { return isDamaged ? record.afterDamage : nil }
            guard present.bond == record.bond else { return present }
            record.inherit(from: present)
            return record
        case .remove: return nil
        case nil: return present ?? (isDamaged ? fallback?.afterDamage : nil)
        }
    }

    /// Writes all files beside those that they replace, runs `then`, and then puts the files in place.
    private func replace(
        _ writes: [(octets: [UInt8], path: String)], then: () throws(StateError) -> Void = {}
    ) throws(StateError) {
        let areMany = writes.count > 32
        for each in writes { try disk.write(each.octets, to: "\(each.path).new", synchronizes: !areMany) }
        if areMany { try disk.synchronizeAll(path) }
        try then()
        for each in writes { try disk.rename("\(each.path).new", to: each.path) }
    }

    private func makeFolder(of local: DeviceAddress) throws(StateError) {
        if try disk.makeFolder(folder(of: local)) { try disk.synchronize(path) }
    }

    func folder(of local: DeviceAddress) -> String { "\(path)/\(BondFile.name(local))" }

    private func file(_ kind: BondFile, of id: BondID) -> String {
        "\(folder(of: id.local))/\(BondFile.name(id.peer)).\(kind.rawValue)"
    }
}

extension BondFolder {
    /// The watch, and the folders that its numbers stand for.
    struct Watching {
        let watch: FolderWatch
        /// The watch's number of the folder `bonds`.
        let root: Int32
        var locals: [Int32: DeviceAddress] = [:]
    }

    /// Watches the folder from now on. Returns the watch, which the caller has to start.
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

    /// Returns the bonds that the events affect.
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
                // Files may have been added to a new folder before it was watched.
                try add(local)
                changed.formUnion(try bonds(at: local))
                changed.formUnion(known.filter { $0.local == local })
            case .changed(let number, let name):
                guard let local = watching?.locals[number], let peer = BondFile.peer(of: name, .bond) else {
                    continue
                }
                changed.insert(BondID(peer, at: local))
            // The removal is reported by the folder above.
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
            // The folder has been removed again.
        } catch {
            throw StateError(error)
        }
    }
}

extension StateError {
    fileprivate init(_ error: PortError) {
        self = .system(error.errno ?? .ioError, during: "\(error)")
    }
}

/// The names of files and folders of bonds.
enum BondFile: String {
    case bond
    case database

    /// Returns the name of an address: `C0:11:22:33:44:55-random`.
    static func name(_ address: DeviceAddress) -> String { "\(address.text)-\(address.type)" }

    /// Returns the address that a file name stands for; nil when the name has another form.
    static func address(_ name: some StringProtocol) -> DeviceAddress? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        // Accepts only the exact name that `name` returns, so that no two files belong to one bond.
        guard parts.count == 2, let address = DeviceAddress("\(parts[0])/\(parts[1])"),
            Self.name(address) == name
        else { return nil }
        return address
    }

    /// Returns the peer whose file of this kind has that name; nil for other names.
    static func peer(of name: String, _ kind: BondFile) -> DeviceAddress? {
        let suffix = ".\(kind.rawValue)"
        return name.hasSuffix(suffix) ? address(name.dropLast(suffix.count)) : nil
    }

    /// Returns the name of the file with an adapter's address. Octets other than letters, digits, dots,
    /// dashes and underscores become % and two digits, so that the result is a single file name and none of
    /// another kind.
    static func name(adapter: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8)
        var name = ""
        for octet in adapter.utf8 {
            name += plain.contains(octet) ? String(UnicodeScalar(octet)) : "%\(octet.hex)"
        }
        return "\(name).address"
    }
}
