import BLE
import Glibc
import HCISocket
import Testing

struct UserFolderTests {
    private let base: StateFolder
    init() throws { base = try StateFolder() }

    /// A process whose $XDG_RUNTIME_DIR is missing, not absolute or not writable uses the next folder.
    @Test func runtimeFolderIsBelowFirstWritableFolder() throws {
        let bases = ["", "relative", base.path + "/none", base.path]
        #expect(try UserFolder.runtime(below: bases, creates: false) == nil)
        #expect(try UserFolder.runtime(below: bases)?.path == base.path + "/bletool")
        #expect(try base.mode(base.path + "/bletool") == 0o700)
        #expect(try UserFolder.runtime(below: bases, creates: false)?.path == base.path + "/bletool")
    }

    @Test func runtimeFolderIsInTemporaryFolderWithoutWritableFolder() throws {
        let folder = try UserFolder.runtime(below: ["", "/none"], orIn: base.path)
        #expect(folder?.path == base.path + "/bletool-\(geteuid())")
    }

    @Test("a folder that others can enter is closed to them; one that all can write to is refused")
    func runtimeFolderIsPrivate() throws {
        let path = base.path + "/bletool"
        #expect(mkdir(path, 0o700) == 0 && chmod(path, 0o755) == 0)
        #expect(try UserFolder.runtime(below: [base.path]) != nil)
        #expect(try base.mode(path) == 0o700)
        chmod(path, 0o770)
        #expect(try UserFolder.runtime(below: [base.path]) != nil)
        #expect(try base.mode(path) == 0o700)
        chmod(path, 0o777)
        #expect(throws: FolderError.writable(path: path, mode: 0o777)) {
            try UserFolder.runtime(below: [base.path])
        }
        #expect(try base.mode(path) == 0o777)
    }

    @Test("a link or a file in place of the folder is refused, and nothing is created where the link points")
    func linkIsRefused() throws {
        let (path, target) = (base.path + "/bletool-\(geteuid())", base.path + "/target")
        #expect(mkdir(target, 0o755) == 0 && symlink(target, path) == 0)
        #expect(throws: FolderError.notFolder(path: path)) {
            try UserFolder.runtime(below: [], orIn: base.path)
        }
        #expect(try base.mode(target) == 0o755)
        unlink(path)
        close(creat(path, 0o600))
        #expect(throws: FolderError.notFolder(path: path)) {
            try UserFolder.runtime(below: [], orIn: base.path)
        }
    }

    /// Only root can give a folder to another user.
    @Test(.enabled(if: geteuid() == 0)) func folderOfOtherUserIsRefused() throws {
        let path = base.path + "/bletool-0"
        #expect(mkdir(path, 0o777) == 0 && mkdir(path + "/not-a-private-folder", 0o777) == 0)
        #expect(chown(path, 65534, 65534) == 0)
        for mode in [0o777, 0o700] as [mode_t] {
            chmod(path, mode)
            #expect(throws: FolderError.owner(path: path, user: 65534)) {
                try UserFolder.runtime(below: [], orIn: base.path)
            }
        }
    }
}
