import BLE
import Glibc
import Testing

struct UserFolderTests {
    /// A process whose $XDG_RUNTIME_DIR is missing, not absolute or not writable uses the next folder.
    @Test func runtimeFolderIsBelowFirstWritableFolder() throws {
        let base = "/tmp/user-folder-\(getpid())"
        try #require(mkdir(base, 0o700) == 0)
        defer {
            rmdir(base + "/bletool")
            rmdir(base)
        }
        #expect(UserFolder.runtime(below: ["", "relative", base + "/none", base]) == base + "/bletool")
        #expect(access(base + "/bletool", X_OK) == 0)
        chmod(base + "/bletool", 0o755)
        #expect(UserFolder.runtime(below: [base]) == base + "/bletool/not-a-private-folder")
    }

    @Test func runtimeFolderIsInTemporaryFolderWithoutWritableFolder() {
        #expect(UserFolder.runtime(below: ["", "/none"]).hasPrefix("/tmp/bletool-\(getuid())"))
    }
}
