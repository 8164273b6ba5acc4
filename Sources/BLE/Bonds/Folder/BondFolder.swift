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
/// bonds/00:1B:DC:07:31:88-public/passkey                  the failed pairings with its fixed passkey
/// bonds/00:1B:DC:07:31:88-public/C0:11:22:33:44:55-random.bond
/// bonds/00:1B:DC:07:31:88-public/C0:11:22:33:44:55-random.database
/// ```
///
/// A file is never changed: a new one is written beside it, flushed to the disk, and renamed to replace it,
/// so that a process that is killed leaves either the old or the new file. A process that writes a file reads
/// the existing one first, because another process may have changed it.
actor BondFolder {
    /// The path of the folder `bonds` in the folder of all state.
    nonisolated let path: String
    private var folder: OpenFolder
    private let disk: Disk
    private let use: OpenFolder.Use
    /// The claim of `lock`; nil for a folder that is only read, of which each file is complete at any time.
    private var claim: DiskClaim?
    private let log = Logger(label: "ble.bonds")
    /// The watch that reports changes by other processes.
    private var watching: Watching?

    /// Opens the bonds in a state folder. Creates the folders that are missing.
    init(state: String, _ disk: Disk = Disk()) throws(StateError) {
        self.disk = disk
        use = .writing
        path = "\(state)/bonds"
        folder = try disk.madeFolder(path)
        claim = try disk.claim(DiskFile("lock", in: folder))
    }

    /// Opens the bonds in a state folder to read them; nil when there are none.
    init?(reading state: String, _ disk: Disk) throws(StateError) {
        self.disk = disk
        use = .reading
        path = "\(state)/bonds"
        guard let folder = try disk.folder(path, for: use) else { return nil }
        self.folder = folder
        claim = nil
    }
}

// MARK: - Reading

extension BondFolder {
    /// The contents of a folder, as they were read.
    struct Contents: Sendable {
        var records: [BondRecord] = []
        var identities: [LocalIdentity] = []
        var failures: [DeviceAddress: PasskeyFailures] = [:]
        /// The errors of the files that could not be read.
        var problems: [StateError] = []
    }

    /// Reads all files. A damaged file is reported, and set aside unless the folder is only read; the others
    /// are still read.
    func load() throws(StateError) -> Contents {
        try holding { () throws(StateError) in try all() }
    }

    private func all() throws(StateError) -> Contents {
        var contents = Contents()
        for local in try locals() {
            do throws(StateError) {
                if let identity = try identity(at: local) { contents.identities.append(identity) }
            } catch {
                contents.problems.append(error)
            }
            do throws(StateError) {
                contents.failures[local] = try failures(at: local)
            } catch  where !contents.problems.contains(error) {
                contents.problems.append(error)
            } catch {
                // The folder itself cannot be opened, which is reported already.
            }
            do throws(StateError) {
                for id in try bonds(at: local) {
                    do throws(StateError) {
                        if let record = try record(id) { contents.records.append(record) }
                    } catch {
                        contents.problems.append(error)
                    }
                }
            } catch  where !contents.problems.contains(error) {
                contents.problems.append(error)
            } catch {
                // The folder itself cannot be opened, which is reported already.
            }
        }
        return contents
    }

    /// Returns the database of a peer; nil when none is stored.
    func database(of id: BondID) throws(BLEError) -> CachedDatabase? {
        try alone { () throws(StateError) in
            guard let file = try file(.database, of: id) else { return nil }
            return try read(file) { octets throws(TextError) in
                CachedDatabase(
                    try RemoteDatabase(TextReader.only(RemoteDatabase.kind, in: octets)), isBonded: true)
            }
        }
    }

    /// Returns the bonds, and the failures of identities of this host, as the folder has them now.
    func records(
        _ ids: Set<BondID>, failuresAt locals: Set<DeviceAddress> = []
    ) throws(StateError) -> BondOutcome {
        try holding { () throws(StateError) in
            var outcome = BondOutcome()
            for local in locals.sorted() {
                do throws(StateError) {
                    outcome.failures[local] = .some(try failures(at: local))
                } catch {
                    log.warning("\(error)")
                }
            }
            var setAside = SetAside(folder, disk, use)
            for id in ids.sorted() {
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
        try disk.names(in: folder).compactMap(BondFile.address)
    }

    /// Returns the bonds of an address that have a file.
    func bonds(at local: DeviceAddress) throws(StateError) -> [BondID] {
        guard let folder = try folder(of: local) else { return [] }
        return try disk.names(in: folder).compactMap { BondFile.bond(of: $0, .bond, at: local) }
    }

    private func record(_ id: BondID) throws(StateError) -> BondRecord? {
        guard let file = try file(.bond, of: id) else { return nil }
        return try read(file) { octets throws(TextError) in
            let record = try BondRecord(TextReader.only(BondRecord.kind, in: octets))
            guard record.id == id else { throw TextError(1, .bond(record.id)) }
            return record
        }
    }

    /// The files of bonds that were set aside, by this process or another. When a bond has such a file and no
    /// other, it was not removed, because removal deletes these files, too.
    private struct SetAside {
        private let folder: OpenFolder
        private let disk: Disk
        private let use: OpenFolder.Use
        private var known: [DeviceAddress: [BondID: [DiskFile]]] = [:]

        init(_ folder: OpenFolder, _ disk: Disk, _ use: OpenFolder.Use) {
            (self.folder, self.disk, self.use) = (folder, disk, use)
        }

        /// Returns the set-aside files of a bond, as they were at the first call for its folder.
        mutating func files(of id: BondID) throws(StateError) -> [DiskFile] {
            if known[id.local] == nil { known[id.local] = try files(at: id.local) }
            return known[id.local]?[id] ?? []
        }

        private func files(at local: DeviceAddress) throws(StateError) -> [BondID: [DiskFile]] {
            guard let folder = try disk.folder(BondFile.name(local), in: folder, for: use) else { return [:] }
            var files: [BondID: [DiskFile]] = [:]
            for name in try disk.names(in: folder) {
                let parts = name.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3, !name.hasSuffix(".new"),
                    let id = BondFile.bond(of: parts[..<2].joined(separator: "."), .bond, at: local)
                else { continue }
                files[id, default: []].append(DiskFile(name, in: folder))
            }
            return files
        }
    }

    private func identity(at address: DeviceAddress) throws(StateError) -> LocalIdentity? {
        guard let folder = try folder(of: address) else { return nil }
        return try read(DiskFile("identity", in: folder)) { octets throws(TextError) in
            let identity = try LocalIdentity(TextReader.only(LocalIdentity.kind, in: octets))
            guard identity.address == address else {
                throw TextError(1, .identity(identity.address))
            }
            return identity
        }
    }

    private func failures(at address: DeviceAddress) throws(StateError) -> PasskeyFailures? {
        guard let folder = try folder(of: address) else { return nil }
        return try read(Self.failures(in: folder)) { octets throws(TextError) in
            try PasskeyFailures(TextReader.only(PasskeyFailures.kind, in: octets))
        }
    }

    private static func failures(in folder: OpenFolder) -> DiskFile {
        DiskFile(PasskeyFailures.kind, in: folder)
    }

    /// Reads a file; returns nil when there is none. A malformed file is set aside, so that it is reported
    /// once and its replacement does not destroy it; a file of a later version stays in place.
    private func read<Value>(
        _ file: DiskFile, _ parse: ([UInt8]) throws(TextError) -> Value
    ) throws(StateError) -> Value? {
        guard let octets = try disk.contents(file) else { return nil }
        do throws(TextError) {
            return try parse(octets)
        } catch {
            if error.version == nil, use == .writing {
                try disk.rename(file, to: disk.free(file, suffix: "damaged"))
            }
            throw StateError(error, in: file.path)
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
            let folder = try madeFolder(of: made.address)
            try replace([(made.text, DiskFile("identity", in: folder))])
            try disk.synchronize(folder)
            return made
        }
    }

    /// Returns the address that the folder has for the adapter of `made`; stores and returns `made` if there
    /// is none.
    func address(orNew made: StaticAddress) throws(BLEError) -> StaticAddress {
        try alone { () throws(StateError) in
            let file = DiskFile(BondFile.name(adapter: made.adapter), in: folder)
            let known = try read(file) { octets throws(TextError) in
                try StaticAddress(TextReader.only(StaticAddress.kind, in: octets))
            }
            if let known { return known }
            try replace([(made.text, file)])
            try disk.synchronize(folder)
            return made
        }
    }

    /// Runs `body` while no other process changes the folder.
    private func alone<Value>(_ body: () throws(StateError) -> Value) throws(BLEError) -> Value {
        do throws(StateError) {
            return try holding(body)
        } catch {
            throw .bonds(error)
        }
    }

    private func holding<Value>(_ body: () throws(StateError) -> Value) throws(StateError) -> Value {
        try reopenIfRemoved()
        guard let claim else { return try body() }
        return try claim.holding(body)
    }

    /// Opens the folder again if it was removed while it was open: other processes use the new one.
    private func reopenIfRemoved() throws(StateError) {
        guard use == .writing, folder.isRemoved else { return }
        log.warning("\(path) was removed while it was in use")
        folder = try disk.madeFolder(path)
        claim = try disk.claim(DiskFile("lock", in: folder))
        guard let watch = watching?.watch else { return }
        do throws(PortError) {
            watching = Watching(watch: watch, root: try watch.add(folder))
        } catch {
            throw StateError(error)
        }
        for local in try locals() { try add(local) }
    }

    private func change(_ batch: BondBatch) throws(StateError) -> BondOutcome {
        var outcome = BondOutcome()
        var writes: [(octets: [UInt8], kind: BondFile, id: BondID)] = []
        var bonds: [BondID] = []
        var leftovers: [DiskFile] = []
        var databases: [BondID] = []
        var locals: Set<DeviceAddress> = []
        var setAside = SetAside(folder, disk, use)
        for id in Set(batch.operations.keys).union(batch.reservations).sorted() {
            var record = try merged(batch.operations[id], into: id, or: batch.fallbacks[id], &setAside)
            if batch.reservations.contains(id) { outcome.reserved[id] = record?.reserveCounters() }
            outcome.records[id] = .some(record)
            locals.insert(id.local)
            if let record {
                writes.append((record.text, .bond, id))
            } else {
                leftovers += try setAside.files(of: id)
                bonds.append(id)
                databases.append(id)
            }
        }
        for (id, database) in batch.databases.sorted(by: { $0.key < $1.key }) {
            let bonded = if let known = outcome.records[id] { known } else { try record(id) }
            guard bonded != nil else { continue }
            locals.insert(id.local)
            if let database {
                writes.append((database.database.text, .database, id))
            } else {
                databases.append(id)
            }
        }
        for (local, counted) in batch.failures.sorted(by: { $0.key < $1.key }) {
            locals.insert(local)
            let known: PasskeyFailures?
            do throws(StateError) {
                known = try failures(at: local)
            } catch {
                // A damaged count must not keep bonds from the disk.
                log.warning("\(error)")
                known = nil
            }
            outcome.failures[local] = .some(counted?.merged(with: known))
        }
        var folders: [DeviceAddress: OpenFolder] = [:]
        for local in locals.sorted() { folders[local] = try madeFolder(of: local) }
        let made = folders
        func file(_ kind: BondFile, _ id: BondID) -> DiskFile? {
            made[id.local].map { kind.file(of: id, in: $0) }
        }
        // Databases are removed first: the database of an earlier bond must not exist together with the next
        // bond.
        let files =
            writes.compactMap { each in file(each.kind, each.id).map { (each.octets, $0) } }
            + outcome.failures.sorted { $0.key < $1.key }.compactMap { local, counted in
                guard let counted, let folder = made[local] else { return nil }
                return (counted.text, Self.failures(in: folder))
            }
        try replace(files) { () throws(StateError) in
            for case (let local, nil) in outcome.failures.sorted(by: { $0.key < $1.key }) {
                if let folder = made[local] { try disk.remove(Self.failures(in: folder)) }
            }
            for id in databases { if let file = file(.database, id) { try disk.remove(file) } }
        }
        // The bond's own file is last: without it, another process takes a bond with set-aside files for
        // damaged.
        for file in leftovers { try disk.remove(file) }
        for id in bonds { if let file = file(.bond, id) { try disk.remove(file) } }
        for (_, folder) in made.sorted(by: { $0.key < $1.key }) { try disk.synchronize(folder) }
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
        } catch .newer(_, let version) {
            if let file = try file(.bond, of: id) {
                try disk.rename(file, to: disk.free(file, suffix: "version-\(version)"))
            }
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
        _ writes: [(octets: [UInt8], file: DiskFile)], then: () throws(StateError) -> Void = {}
    ) throws(StateError) {
        let areMany = writes.count > 32
        for each in writes {
            try disk.write(each.octets, to: each.file.with(suffix: "new"), synchronizes: !areMany)
        }
        if areMany { try disk.synchronizeAll(folder) }
        try then()
        for each in writes { try disk.rename(each.file.with(suffix: "new"), to: each.file) }
    }

    private func madeFolder(of local: DeviceAddress) throws(StateError) -> OpenFolder {
        try disk.madeFolder(BondFile.name(local), in: folder)
    }

    /// Opens the folder of an address; nil when there is none.
    private func folder(of local: DeviceAddress) throws(StateError) -> OpenFolder? {
        try disk.folder(BondFile.name(local), in: folder, for: use)
    }

    /// Returns a file of a bond; nil when there is no folder for it.
    private func file(_ kind: BondFile, of id: BondID) throws(StateError) -> DiskFile? {
        try folder(of: id.local).map { kind.file(of: id, in: $0) }
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
            watching = Watching(watch: watch, root: try watch.add(folder))
        } catch {
            throw StateError(error)
        }
        guard let watch = watching?.watch else { throw .system(.noSuchFileOrDirectory, during: path) }
        for local in try locals() {
            do throws(StateError) {
                try add(local)
            } catch {
                // Reading the bonds reports the same error.
            }
        }
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
                guard let local = watching?.locals[number], let id = BondFile.bond(of: name, .bond, at: local)
                else { continue }
                changed.insert(id)
            // The removal is reported by the folder above.
            case .gone: continue
            }
        }
        return changed
    }

    /// Returns the identities of this host whose failures with a fixed passkey the events affect.
    func localsWithFailures(_ events: [FolderWatch.Event]) throws(StateError) -> Set<DeviceAddress> {
        var changed: Set<DeviceAddress> = []
        for event in events {
            switch event {
            case .lost: changed.formUnion(try locals())
            case .changed(let number, let name):
                let local =
                    number == watching?.root
                    ? BondFile.address(name) : name == PasskeyFailures.kind ? watching?.locals[number] : nil
                if let local { changed.insert(local) }
            case .gone: continue
            }
        }
        return changed
    }

    private func add(_ local: DeviceAddress) throws(StateError) {
        // The folder may have been removed again.
        guard let folder = try folder(of: local) else { return }
        do throws(PortError) {
            guard let number = try watching?.watch.add(folder) else { return }
            watching?.locals[number] = local
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

    /// What is added to the name of a peer that has only claimed its address.
    private static let claimed = "-claimed"

    /// Returns the file of this kind of a bond.
    func file(of id: BondID, in folder: OpenFolder) -> DiskFile {
        DiskFile("\(Self.name(id.peer))\(id.isIdentityClaimed ? Self.claimed : "").\(rawValue)", in: folder)
    }

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

    /// Returns the bond whose file of this kind has that name; nil for other names.
    static func bond(of name: String, _ kind: BondFile, at local: DeviceAddress) -> BondID? {
        let suffix = ".\(kind.rawValue)"
        guard name.hasSuffix(suffix) else { return nil }
        let name = name.dropLast(suffix.count)
        let isClaimed = name.hasSuffix(claimed)
        return address(isClaimed ? name.dropLast(claimed.count) : name)
            .map { BondID($0, at: local, isIdentityClaimed: isClaimed) }
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
