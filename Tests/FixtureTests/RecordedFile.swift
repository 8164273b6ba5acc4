import Foundation
import Recordings
import Testing

/// A recording on disk.
struct RecordedFile: Hashable, Sendable {
    /// A folder of recordings.
    enum Folder: String, Sendable {
        /// The simulated recordings of this project.
        case fixtures = "../../Fixtures"
        /// Recordings of real phones and devices, outside the package. They may be missing.
        case captures = "../../../shared/captures"

        var url: URL {
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: rawValue)
                .standardizedFileURL
        }

        var isThere: Bool { FileManager.default.fileExists(atPath: url.path) }

        /// All recordings in the folder.
        var files: [RecordedFile] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
            return names.filter { $0.hasSuffix(".btsnoop") }.sorted()
                .map { RecordedFile(folder: self, name: String($0.dropLast(".btsnoop".count))) }
        }
    }

    let folder: Folder
    let name: String

    static func fixture(_ name: String) -> RecordedFile { RecordedFile(folder: .fixtures, name: name) }
    static func capture(_ name: String) -> RecordedFile { RecordedFile(folder: .captures, name: name) }

    var bytes: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: folder.url.appending(path: name + ".btsnoop"))) }
    }

    /// Returns all records. Throws an error if the file contains damage.
    func records(chunks size: Int = 65_536) throws -> [Record] {
        let bytes = try bytes
        var reader = RecordingReader()
        var records: [Record] = []
        func take() throws {
            while let item = try reader.next() {
                guard case .record(let record) = item else { throw UnreadableRecord(item: item) }
                records.append(record)
            }
        }
        for start in stride(from: 0, to: bytes.count, by: size) {
            reader.receive([UInt8](bytes[start..<min(start + size, bytes.count)]).span)
            try take()
        }
        reader.finish()
        try take()
        return records
    }

    var packets: [DecodedPacket] {
        get throws {
            var dissector = Dissector()
            return try records().map { dissector.dissect($0) }
        }
    }
}

extension RecordedFile: CustomTestStringConvertible {
    var testDescription: String { name }
}

/// Damage in a recording that must have none.
struct UnreadableRecord: Error {
    let item: RecordingItem
}
