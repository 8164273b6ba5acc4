import BLECore
import Recordings

/// A file yields the same records and damage in chunks of any size. Damage is in order and does not overlap.
/// All layers of a record have names. Each record of a btsnoop file of datalink 1002 can be written again.
public func fuzzRecordings(_ bytes: Span<UInt8>) {
    guard bytes.count > 1 else { return }
    let file = [UInt8](copying: bytes.extracting(droppingFirst: 1))
    guard let items = try? recordingItems(file, chunks: file.count) else {
        precondition((try? recordingItems(file, chunks: 1 + Int(bytes[0]))) == nil)
        return
    }
    precondition((try? recordingItems(file, chunks: 1 + Int(bytes[0]))) == items)
    var dissector = Dissector()
    var last = 0
    for case let item in items {
        switch item {
        case .damage(let damage):
            precondition(damage.skipped > 0 && damage.offset >= last)
            last = damage.offset + damage.skipped
        case .record(let record):
            for layer in dissector.dissect(record).layers { precondition(!layer.name.isEmpty) }
            precondition(!record.time.description.isEmpty)
        }
    }
    precondition(last <= file.count)
    checkWriting(items, file)
}

/// Checks for a btsnoop file of datalink 1002 that its records, written again, and its damage have the size
/// of the file.
private func checkWriting(_ items: [RecordingItem], _ file: [UInt8]) {
    let writer = RecordingWriter(.h4)
    guard file.starts(with: writer.header) else { return }
    var written = writer.header
    for case .record(let record) in items {
        guard let octets = writer.encode(record) else { preconditionFailure("a record that was read") }
        written += octets
    }
    let damaged = items.reduce(0) { if case .damage(let damage) = $1 { $0 + damage.skipped } else { $0 } }
    precondition(written.count + damaged == file.count)
}

private func recordingItems(_ file: [UInt8], chunks size: Int) throws(RecordingError) -> [RecordingItem] {
    var reader = RecordingReader()
    var items: [RecordingItem] = []
    for start in stride(from: 0, to: file.count, by: size) {
        reader.receive(file[start..<min(start + size, file.count)].span)
        while let item = try reader.next() { items.append(item) }
    }
    reader.finish()
    while let item = try reader.next() { items.append(item) }
    return items
}
