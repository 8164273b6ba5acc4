import ATT
import BLECore
import GATTServer

/// The text of a published service in a file.
extension ServiceRecord {
    static let kind = "service"

    /// Returns the text, with those of the values that belong to the service.
    func text(_ values: [AttributeHandle: [UInt8]]) -> [UInt8] {
        var writer = TextWriter(Self.kind)
        for entry in entries {
            var words = ["\(entry.handle)", "\(entry.type)", TextValue.text(entry.declaration)]
            if let value = values[entry.handle] { words.append(TextValue.text(value)) }
            writer.line("attribute", words.joined(separator: " "))
        }
        if let end { writer.line("end", "\(end)") }
        return writer.octets
    }

    /// Reads a service, and the values in its section by handle.
    static func read(
        _ section: TextSection
    ) throws(TextError) -> (record: ServiceRecord, values: [AttributeHandle: [UInt8]]) {
        var entries: [Entry] = []
        var values: [AttributeHandle: [UInt8]] = [:]
        var end: AttributeHandle?
        for line in section.lines {
            if line.key == "end" {
                end = try line.value(of: line.values(1...1)[0], TextValue.handle)
                continue
            }
            guard line.key == "attribute" else { throw line.isUnknown }
            let words = try line.values(3...4)
            let handle = try line.value(of: words[0], TextValue.handle)
            entries.append(
                Entry(
                    handle: handle, type: try line.value(of: words[1]) { try? BluetoothUUID($0) },
                    declaration: try line.value(of: words[2], TextValue.octets)))
            if words.count == 4 { values[handle] = try line.value(of: words[3], TextValue.octets) }
        }
        guard let record = ServiceRecord(entries, end: end) else {
            throw TextError(section.number, .service)
        }
        return (record, values)
    }
}
