import HCISocket
import SystemPackage

/// A file of the state folder that one process uses exclusively, from its opening until the end of that
/// process.
///
/// The file is never changed: a new one is written beside it, synchronized to the disk, and renamed, so a
/// process that is killed leaves the old file or the new one.
actor StateFile {
    /// The path of the file, for messages.
    nonisolated let path: String
    private let file: DiskFile
    private let disk: Disk
    private let claim: DiskClaim
    /// The octets that are known to be on the disk.
    private var present: [UInt8]?

    /// Opens the file with this name in a folder, which is created if it is missing; nil when another process
    /// has the file.
    init?(_ name: String, in folder: String, _ disk: Disk) throws(StateError) {
        file = DiskFile(name, in: try disk.madeFolder(folder))
        self.disk = disk
        path = file.path
        claim = try disk.claim(file.with(suffix: "lock"))
        guard try claim.own() else { return nil }
    }

    /// Returns the process that has the file with this name in a folder, if it is known.
    static func owner(of name: String, in folder: String, _ disk: Disk) -> Int32? {
        guard let folder = try? disk.folder(folder, for: .reading),
            let octets = try? disk.contents(DiskFile("\(name).lock", in: folder), limit: 16)
        else { return nil }
        return Int32(String(decoding: octets.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// Returns the content of the file; nil when there is no file.
    func contents() throws(StateError) -> [UInt8]? {
        let octets = try disk.contents(file)
        if let octets, octets.count > Disk.limit { throw .system(.fileTooLarge, during: "read \(path)") }
        present = octets
        return octets
    }

    /// Replaces the content of the file. Writes nothing if the content is the same. At most `Disk.limit`
    /// octets, so that the file can be read again.
    func replace(_ octets: [UInt8]) throws(StateError) {
        guard octets != present else { return }
        guard octets.count <= Disk.limit else { throw .system(.fileTooLarge, during: "write \(path)") }
        // Until the last step is done, the disk may have the old content or the new one.
        present = nil
        let new = file.with(suffix: "new")
        try disk.write(octets, to: new)
        try disk.rename(new, to: file)
        try disk.synchronize(file.folder)
        present = octets
    }

    /// Writes content that could not be read to a file with another name, which is kept.
    func setAside(_ octets: [UInt8], suffix: String) throws(StateError) {
        try disk.write(octets, to: disk.free(file, suffix: suffix))
    }

    /// Releases the file for another process.
    func release() { claim.release() }
}
