import Foundation
import Glibc
import HCI
import Recordings
import Testing

@testable import bletool

struct RotationTests {
    @Test(arguments: [
        ("a.btsnoop", "a-0007.btsnoop"), ("dir.d/a", "dir.d/a-0007"), ("/x/.hidden", "/x/.hidden-0007"),
        ("a.b.c", "a.b-0007.c"),
    ])
    func fileNamesAreNumbered(path: String, seventh: String) { #expect(Rotation.path(path, 7) == seventh) }

    @Test(arguments: [("1", 1), ("500k", 500_000), ("10M", 10_000_000), ("1G", 1_000_000_000)])
    func sizesAreParsed(text: String, octets: Int) throws {
        #expect(try Rotation.octets(text: text) == octets)
    }

    @Test(arguments: ["", "k", "0", "-1", "1T", "1.5M", "9223372036854775807G"])
    func invalidSizesAreRefused(text: String) {
        #expect(throws: BadInput.self) { try Rotation.octets(text: text) }
    }

    /// Each file can be read by itself. Only the newest files are kept, and they contain the newest records
    /// in order.
    @Test func rotationKeepsNewestFilesInOrder() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/a.btsnoop"
        // A header of 16 octets and two records of 24 and 4.
        let file = try RecordingFile(path, rotation: Rotation(size: 72, kept: 2)) { _ in }
        for index in 0..<9 as Range<UInt8> {
            #expect(file.add(.packet(.hostToController, [1, index, 0x0c, 0])) == Int(index) + 1)
        }
        #expect(file.close() == nil)
        #expect(file.count == 9 && file.files == 5)
        var found: [[UInt8]] = []
        for number in 1...5 {
            guard let octets = try? File.contents(Rotation.path(path, number), limit: 1000) else {
                found.append([])
                continue
            }
            var reader = RecordingReader()
            reader.receive(octets.span)
            reader.finish()
            var opcodes: [UInt8] = []
            while case .record(let record)? = try reader.next() {
                if case .packet(_, let bytes) = record.content { opcodes.append(bytes[1]) }
            }
            found.append(opcodes)
        }
        #expect(found == [[], [], [], [6, 7], [8]])
    }

    @Test("a file that is no recording is not replaced", arguments: [Rotation(), Rotation(size: 72)])
    func otherFilesAreNotReplaced(rotation: Rotation) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID()).txt")
            .path
        let first = rotation.isThere ? Rotation.path(path, 1) : path
        defer { unlink(first) }
        for text in ["a text that is precious\n", "b", "btsnoo"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: first))
            let failure = #expect(throws: Failure.self) {
                _ = try RecordingFile(path, rotation: rotation) { _ in }
            }
            #expect(failure?.kind == .input)
            #expect(failure?.message == "--capture \(first): the file exists and is no btsnoop recording")
            #expect(try Data(contentsOf: URL(fileURLWithPath: first)) == Data(text.utf8))
        }
        // An empty file and an old recording are replaced.
        try Data().write(to: URL(fileURLWithPath: first))
        for _ in 0..<2 {
            let file = try RecordingFile(path, rotation: rotation) { _ in }
            file.add(.packet(.hostToController, [1, 3, 0x0c, 0]))
            #expect(file.close() == nil)
            #expect(try File.contents(first, limit: 1000).count == 44)
        }
    }

    @Test(
        "a file into which a recording is made is not replaced", arguments: [Rotation(), Rotation(size: 72)])
    func fileInUseIsNotReplaced(rotation: Rotation) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        let first = rotation.isThere ? Rotation.path(path, 1) : path
        defer { unlink(first) }
        let file = try RecordingFile(path, rotation: rotation) { _ in }
        file.add(.packet(.hostToController, [1, 3, 0x0c, 0]))
        let failure = #expect(throws: Failure.self) {
            _ = try RecordingFile(path, rotation: rotation) { _ in }
        }
        #expect(failure?.kind == .input)
        #expect(failure?.message == "--capture \(first): another process is recording into this file")
        #expect(throws: Failure.self) { _ = try RecordingTarget(first) }
        #expect(file.close() == nil)
        #expect(try File.contents(first, limit: 1000).count == 44)
        // After its end, the recording can be replaced.
        #expect(try RecordingFile(path, rotation: rotation) { _ in }.close() == nil)
        #expect(try File.contents(first, limit: 1000).count == 16)
    }

    @Test("a rotating recording also protects the files that it has completed")
    func completedFilesOfRotationAreNotReplaced() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID()).btsnoop")
            .path
        defer { for number in 1...3 { unlink(Rotation.path(path, number)) } }
        let file = try RecordingFile(path, rotation: Rotation(size: 72, kept: 2)) { _ in }
        for index in 0..<5 as Range<UInt8> { file.add(.packet(.hostToController, [1, index, 0x0c, 0])) }
        while file.files < 3 { usleep(1000) }
        let (second, third) = (Rotation.path(path, 2), Rotation.path(path, 3))
        #expect(Set(Rotation.files(path)) == [second, third])
        let failure = #expect(throws: Failure.self) {
            _ = try RecordingFile(path, rotation: Rotation(size: 72)) { _ in }
        }
        #expect(failure?.message == "--capture \(third): another process is recording into this file")
        #expect(file.close() == nil)
        #expect(try File.contents(second, limit: 1000).count == 72)
        #expect(try RecordingFile(path, rotation: Rotation(size: 72)) { _ in }.close() == nil)
    }

    @Test("a later file into which another process records is not replaced, and ends the recording")
    func laterClaimedFileIsNotReplaced() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        let second = Rotation.path(path, 2)
        defer { for number in 1...2 { unlink(Rotation.path(path, number)) } }
        let file = try RecordingFile(path, rotation: Rotation(size: 72)) { _ in }
        let other = try RecordingFile(second) { _ in }
        for index in 0..<5 as Range<UInt8> { file.add(.packet(.hostToController, [1, index, 0x0c, 0])) }
        #expect(file.close() == "\(path): another process is recording into the next file")
        #expect(other.close() == nil)
        #expect(try File.contents(second, limit: 1000).count == 16)
    }

    @Test("a later file that is no recording is not replaced, and ends the recording")
    func laterOtherFileIsNotReplaced() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        let second = Rotation.path(path, 2)
        defer { for number in 1...2 { unlink(Rotation.path(path, number)) } }
        try Data("precious".utf8).write(to: URL(fileURLWithPath: second))
        let file = try RecordingFile(path, rotation: Rotation(size: 72)) { _ in }
        for index in 0..<5 as Range<UInt8> { file.add(.packet(.hostToController, [1, index, 0x0c, 0])) }
        #expect(file.close() == "\(path): the next file exists and is no btsnoop recording")
        #expect(file.files == 1 && file.count == 2)
        #expect(try Data(contentsOf: URL(fileURLWithPath: second)) == Data("precious".utf8))
    }

    @Test("only the owner can read a recording, and its numbered files replace no link, pipe or other file")
    func numberedFilesFollowNoLink() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        let (path, away) = ("\(folder)/a.btsnoop", "\(folder)/away")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let second = Rotation.path(path, 2)
        func record() throws -> String? {
            let file = try RecordingFile(path, rotation: Rotation(size: 72)) { _ in }
            for index in 0..<5 as Range<UInt8> {
                file.add(.packet(.hostToController, [1, index, 0x0c, 0]))
            }
            return file.close()
        }
        #expect(try record() == nil)
        for path in [Rotation.path(path, 1), second] {
            var status = Glibc.stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        // A link to nothing, one to a recording, and a pipe.
        let refused = "\(path): the next file exists and is no btsnoop recording"
        for plant in 0..<3 {
            unlink(second)
            if plant == 1 {
                try Data(contentsOf: URL(filePath: Rotation.path(path, 1))).write(to: URL(filePath: away))
            }
            try #require(plant == 2 ? mkfifo(second, 0o644) == 0 : symlink(away, second) == 0)
            let before = FileManager.default.contents(atPath: away)
            #expect(try record() == refused)
            #expect(FileManager.default.contents(atPath: away) == before)
        }
        // A hard link of a recording is replaced, and not written to.
        unlink(second)
        let before = try Data(contentsOf: URL(filePath: away))
        try #require(link(away, second) == 0)
        #expect(try record() == nil)
        #expect(try Data(contentsOf: URL(filePath: away)) == before)
    }

    /// The second file cannot be opened, because its path is that of a folder.
    @Test func unopenedFileIsNotCounted() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        let path = "\(folder)/a.btsnoop"
        try FileManager.default.createDirectory(
            atPath: Rotation.path(path, 2), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try RecordingFile(path, rotation: Rotation(size: 72, kept: 1)) { _ in }
        for index in 0..<5 as Range<UInt8> { file.add(.packet(.hostToController, [1, index, 0x0c, 0])) }
        #expect(file.close() == "\(path): Is a directory")
        #expect(file.files == 1 && file.count == 2)
        // The last file that was written is kept.
        #expect(try File.contents(Rotation.path(path, 1), limit: 1000).count == 72)
    }

    /// Adding a record must not wait for the disk, because the radio's loop adds records. A full pipe stands
    /// in for the disk.
    @Test(.timeLimit(.minutes(10))) func addingDoesNotWaitForTheDisk() async throws {
        let pipe = try Self.pipe()
        defer { pipe.remove() }
        let file = try RecordingFile(pipe.path) { _ in }
        for _ in 0..<50 { file.add(Self.packet) }
        // The writing task has begun, and more octets wait than the pipe has room for.
        #expect(try await pipe.read(20_000) == 20_000)
        for _ in 0..<50 { file.add(Self.packet) }
        #expect(file.count == 100)
        #expect(try await pipe.read(16 + 100 * 10_024 - 20_000) == 16 + 100 * 10_024 - 20_000)
        #expect(try await offThePool { file.close() } == nil)
        #expect(file.count == 100)
        close(pipe.reader)
    }

    /// The reader of a pipe closes it. The complete records that were written before count, and those after
    /// it do not.
    @Test(.timeLimit(.minutes(10))) func failedWriteCountsWholeRecords() async throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = try Self.pipe()
        defer { pipe.remove() }
        let (problems, sink) = AsyncStream<String?>.makeStream()
        let file = try RecordingFile(pipe.path) { sink.yield($0) }
        for _ in 0..<50 { file.add(Self.packet) }
        #expect(try await pipe.read(30_000) == 30_000)
        close(pipe.reader)
        var iterator = problems.makeAsyncIterator()
        #expect(await iterator.next() == "\(pipe.path): Broken pipe")
        #expect((2..<50).contains(file.count), "\(file.count)")
        file.add(Self.packet)
        #expect(file.count < 50)
        #expect(file.close() == "\(pipe.path): Broken pipe")
    }

    /// A packet whose record has 10,024 octets.
    private static let packet = Record.Content.packet(.hostToController, [UInt8](repeating: 1, count: 10_000))

    /// A named pipe and its read end.
    private struct Pipe {
        let path: String
        let reader: CInt

        /// Reads `wanted` octets, or fewer if no writer is left. Returns the number of octets read.
        func read(_ wanted: Int) async throws -> Int {
            let reader = reader
            return try await offThePool {
                _ = fcntl(reader, F_SETFL, 0)
                var octets = [UInt8](repeating: 0, count: wanted)
                var count = 0
                while count < wanted {
                    let more = Glibc.read(reader, &octets, wanted - count)
                    guard more > 0 else { break }
                    count += more
                }
                return count
            }
        }

        func remove() { unlink(path) }
    }

    private static func pipe() throws -> Pipe {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("pipe-\(UUID())").path
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        try #require(reader >= 0)
        return Pipe(path: path, reader: reader)
    }
}
