import Foundation
import Glibc
import Testing

@testable import bletool

/// Reading and replacing complete files, and links, pipes and folders at their paths.
struct FileTests {
    private let new = Array("new".utf8)

    @Test func existingFileIsReplaced() throws {
        try withTemporaryPath { path in
            try File.replace(path, with: Array("older".utf8), mode: 0o640)
            try File.replace(path, with: new)
            #expect(try File.contents(path, limit: 100) == new)
            var status = Glibc.stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(throws: BadInput.self) { try File.contents(path, limit: 2) }
        }
    }

    @Test("a file has other content if it does not begin as expected; an absent or empty file has none")
    func otherContentIsRecognized() throws {
        try withTemporaryPath { path in
            let magic = Array("<svg".utf8)
            #expect(!File.hasContent(path, otherThan: magic))
            for (text, isOther) in [("", false), ("<svg xmlns", false), ("<sv", true), ("name: Lamp", true)] {
                try File.replace(path, with: Array(text.utf8))
                #expect(File.hasContent(path, otherThan: magic) == isOther, "\(text)")
            }
        }
        #expect(!File.hasContent("/dev/null", otherThan: [1]))
    }

    @Test("a path can be written if its folder exists and it is no folder itself")
    func writablePathIsRecognized() throws {
        try withTemporaryPath { path in
            try File.checkWritable(path)
            try File.replace(path, with: new)
            try File.checkWritable(path)
            #expect(throws: BadInput.self) { try File.checkWritable("\(path)/new") }
            #expect(throws: BadInput.self) { try File.checkWritable("\(path).folder/new") }
        }
        // The link is in a read-only folder. The folder of its target counts.
        try withTemporaryPath { path in
            try File.replace(path, with: new)
            let file = open(path, O_RDONLY)
            defer { close(file) }
            try File.checkWritable("/proc/self/fd/\(file)")
        }
        try File.checkWritable("/dev/null")
        #expect(throws: BadInput.self) { try File.checkWritable("/tmp") }
    }

    @Test(
        "the folder of a file is known; that of a pipe of the shell is the current folder",
        arguments: [
            ("a.yaml", "."), ("b/a.yaml", "b"), ("/a.yaml", "/"), ("/b/c/a.yaml", "/b/c"), ("-", "."),
            ("/dev/fd/63", "."), ("/dev/stdin", "."), ("/proc/self/fd/0", "."),
        ])
    func folderIsKnown(_ path: String, _ folder: String) { #expect(File.folder(of: path) == folder) }

    @Test func symbolicLinkIsKept() throws {
        try withTemporaryPath { path in
            try withTemporaryPath { link in
                try File.replace(path, with: [])
                #expect(symlink(path, link) == 0)
                try File.replace(link, with: new)
                #expect(try File.contents(path, limit: 100) == new)
                var status = Glibc.stat()
                #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
            }
        }
    }

    @Test func pipesCanBeWrittenAndRead() throws {
        try withTemporaryPath { path in
            #expect(mkfifo(path, 0o600) == 0)
            // The pipe has no reader and no writer.
            #expect(throws: BadInput.self) { try File.replace(path, with: new) }
            #expect(throws: BadInput.self) { try File.contents(path, limit: 100, takesPipes: true) }
            let reader = open(path, O_RDWR | O_CLOEXEC)
            defer { close(reader) }
            try File.replace(path, with: new)
            var octets = [UInt8](repeating: 0, count: 10)
            #expect(read(reader, &octets, 10) == 3 && Array(octets.prefix(3)) == new)
            var status = Glibc.stat()
            #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        }
        // A pipe like /dev/fd/N of a shell, whose writer has ended.
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        // A child process of another test would keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        #expect(write(ends[1], new, 3) == 3)
        close(ends[1])
        let path = "/proc/self/fd/\(ends[0])"
        #expect(throws: BadInput.self) { try File.contents(path, limit: 100) }
        for _ in 1...2 { #expect(try File.contents(path, limit: 100, takesPipes: true) == new) }
    }

    @Test func folderIsRefusedAsFile() throws {
        let folder = FileManager.default.temporaryDirectory.path
        #expect(throws: BadInput.self) { try File.contents(folder, limit: 100) }
        #expect(throws: BadInput.self) { try File.replace(folder, with: new) }
    }
}
