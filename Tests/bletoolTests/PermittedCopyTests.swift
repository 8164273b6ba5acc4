import Foundation
import Glibc
import Testing

@testable import bletool

/// The copy of the program for the members of a group.
struct PermittedCopyTests {
    /// Runs `body` with a program, and a copy with this content and mode.
    private func installed(
        copy: String?, mode: mode_t = 0o755, isRoots: @escaping (stat) -> Bool = { _ in true },
        hasCapabilities: Bool = true, _ body: (PermittedCopy) throws -> Void
    ) throws {
        try withTemporaryPath { path in
            for folder in [path, "\(path)/bin", "\(path)/libexec"] { mkdir(folder, 0o755) }
            let installed = PermittedCopy(
                program: "\(path)/bin/bletool", isRoots: isRoots, hasCapabilities: { _ in hasCapabilities })
            try File.replace(installed.program, with: Array("this version".utf8), mode: 0o755)
            if let copy {
                try File.replace(installed.path, with: Array(copy.utf8), mode: 0o755)
                chmod(installed.path, mode)
            }
            try body(installed)
        }
    }

    @Test func copyIsBesideFolderOfProgram() {
        #expect(PermittedCopy(program: "/usr/local/bin/bletool").path == "/usr/local/libexec/bletool")
        #expect(PermittedCopy(program: "/bin/bletool").path == "/libexec/bletool")
    }

    @Test func copyOfThisVersionIsUsed() throws {
        try installed(copy: "this version") { #expect($0.state == .usable) }
    }

    @Test func copyOfAnotherVersionIsNotUsed() throws {
        try installed(copy: "another version") { #expect($0.state == .missing) }
        try installed(copy: "this version", hasCapabilities: false) { #expect($0.state == .missing) }
        try installed(copy: "this version") { installed in
            // The program was installed later.
            let early = Date(timeIntervalSince1970: 0)
            try FileManager.default.setAttributes([.modificationDate: early], ofItemAtPath: installed.path)
            #expect(installed.state == .missing)
        }
        try installed(copy: nil) { installed in
            #expect(installed.state == .missing)
            #expect(
                installed.grant.contains("-m 750 -g bluetooth \(installed.program) \(installed.path) && "))
            #expect(installed.grant.contains("sudo setcap cap_net_raw,cap_net_admin+ep \(installed.path) "))
        }
    }

    @Test("a copy that another user can have made is not executed, and none is installed beside it")
    func copyInOpenPlaceIsNotUsed() throws {
        // /tmp can be written to by all users.
        try installed(copy: "this version", isRoots: { $0.st_mode & 0o022 == 0 }) { installed in
            #expect(installed.state == .unsafePlace)
            #expect(!installed.grant.contains("libexec"))
        }
        // The file, or the folder of the copy, belongs to another user.
        for kind in [S_IFREG, S_IFDIR] {
            var count = 0
            try installed(copy: "this version") { installed in
                let other = PermittedCopy(
                    program: installed.program,
                    isRoots: { status in
                        guard status.st_mode & S_IFMT == kind else { return true }
                        count += 1
                        return count > 1
                    }, hasCapabilities: { _ in true })
                #expect(other.state == (kind == S_IFREG ? .missing : .unsafePlace))
            }
        }
        // A link in place of the copy.
        try installed(copy: nil) { installed in
            symlink(installed.program, installed.path)
            #expect(installed.state == .missing)
        }
        #expect(PermittedCopy(program: "/usr/local/games/bletool").state == .unsafePlace)
    }

    @Test("the copy does not look for a copy of itself") func copyHasNoCopy() throws {
        try installed(copy: "this version") { installed in
            let ofCopy = PermittedCopy(
                program: installed.path, isRoots: { _ in true }, hasCapabilities: { _ in true })
            #expect(ofCopy.state == .unsafePlace)
        }
    }

    @Test func copyOfAnotherGroupIsForbidden() throws {
        try installed(copy: "this version", mode: 0o640) { installed in
            let group = try #require(getgrgid(getegid()).map { String(cString: $0.pointee.gr_name) })
            #expect(installed.state == .forbidden(group: group))
            #expect(installed.grant == "sudo usermod -aG \(group) $USER, then log in again")
        }
    }
}
