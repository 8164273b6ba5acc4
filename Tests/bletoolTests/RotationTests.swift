import Foundation
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

    /// Every file can be read by itself, only the newest are kept, and they hold the newest records in order.
    @Test func rotationKeepsNewestFilesInOrder() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/a.btsnoop"
        // A header of 16 octets and two records of 24 and 4.
        let file = try RecordingFile(path, rotation: Rotation(size: 72, kept: 2))
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

    /// A folder stands where the second file belongs.
    @Test func unopenedFileIsNotCounted() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        let path = "\(folder)/a.btsnoop"
        try FileManager.default.createDirectory(
            atPath: Rotation.path(path, 2), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try RecordingFile(path, rotation: Rotation(size: 72, kept: 1))
        for index in 0..<5 as Range<UInt8> { file.add(.packet(.hostToController, [1, index, 0x0c, 0])) }
        #expect(file.close() == "\(path): Is a directory")
        #expect(file.files == 1)
        // The last file that was written is kept.
        #expect(try File.contents(Rotation.path(path, 1), limit: 1000).count == 72)
    }

    /// The radio's loop adds records: it must not wait for a disk, here a pipe that has no room.
    @Test(.timeLimit(.minutes(10))) func addingDoesNotWaitForTheDisk() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        let file = try RecordingFile(path)
        let packet = [UInt8](repeating: 1, count: 10_000)
        for _ in 0..<50 { file.add(.packet(.hostToController, packet)) }
        #expect(file.count == 50)
        let (count, problem) = try await offThePool {
            _ = fcntl(reader, F_SETFL, 0)
            var octets = [UInt8](repeating: 0, count: 65_536)
            var count = 0
            while count < 16 + 50 * 10_024 { count += max(0, read(reader, &octets, octets.count)) }
            close(reader)
            return (count, file.close())
        }
        #expect(count == 16 + 50 * 10_024)
        #expect(problem == nil && file.count == 50)
    }
}
