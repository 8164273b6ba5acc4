import HCISocket

/// A file of the state folder that one process has to itself, from its opening until the end of that process.
///
/// It is never changed: a new one is written beside it, brought to the disk, and takes its name, so a process that is
/// killed leaves the old or the new.
actor StateFile {
    nonisolated let path: String
    private let folder: String
    private let disk: Disk
    private let claim: DiskClaim
    /// What the disk is known to have.
    private var present: [UInt8]?

    /// The file of that name in a folder, which is made if it is missing; nil when another process has it.
    init?(_ name: String, in folder: String, _ disk: Disk) throws(StateError) {
        try disk.makeFolders(folder)
        self.folder = folder
        self.disk = disk
        path = "\(folder)/\(name)"
        claim = try disk.claim("\(path).lock")
        guard try claim.own() else { return nil }
    }

    /// The process that has a file, where it says so.
    static func owner(of path: String, _ disk: Disk) -> Int32? {
        guard let octets = try? disk.contents("\(path).lock", limit: 16) else { return nil }
        return Int32(String(decoding: octets.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// What it says; nil when it is not there.
    func contents() throws(StateError) -> [UInt8]? {
        present = try disk.contents(path)
        return present
    }

    /// Makes it say that. What it says already is not written again.
    func replace(_ octets: [UInt8]) throws(StateError) {
        guard octets != present else { return }
        // Until the last step is done, the disk may have either.
        present = nil
        try disk.write(octets, to: "\(path).new")
        try disk.rename("\(path).new", to: path)
        try disk.synchronize(folder)
        present = octets
    }

    /// Keeps what it says, which makes no sense, under another name.
    func setAside(_ octets: [UInt8], suffix: String) throws(StateError) {
        try disk.write(octets, to: disk.freeName(path, suffix: suffix))
    }

    /// Releases the file for another process.
    func letGo() { claim.letGo() }
}
