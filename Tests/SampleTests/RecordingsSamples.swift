import Recordings

/// Samples of the module Recordings.
struct RecordingsSamples {
    /// A file that is read or written from its beginning.
    protocol File {
        func read() -> [UInt8]?
        func write(_ bytes: [UInt8])
    }

    func read(_ file: some File) throws {
        // Sources/Recordings/Files/RecordingReader.swift
        var reader = RecordingReader()
        while let chunk = file.read() {
            reader.receive(chunk.span)
            while let item = try reader.next() { print(item) }
        }
        reader.finish()
        while let item = try reader.next() { print(item) }
        // .
    }

    func write(_ record: Record, to file: some File) {
        // Sources/Recordings/Files/RecordingWriter.swift
        let writer = RecordingWriter(.h4)
        file.write(writer.header)
        if let bytes = writer.encode(record) { file.write(bytes) }
        // .
    }
}
