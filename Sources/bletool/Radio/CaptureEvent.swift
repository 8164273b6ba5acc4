/// `capture`: a recording begins and ends.
enum CaptureEvent: Event {
    /// Packets are recorded from now on.
    case began(file: String, adapter: String)
    /// All records are in the file.
    case ended(file: String, records: Int, files: Int)

    var json: JSONValue {
        switch self {
        case .began(let file, let adapter):
            ["event": "capturing", "file": .string(file), "adapter": .string(adapter)]
        case .ended(let file, let records, let files):
            [
                "event": "captured", "file": .string(file), "records": JSONValue(records),
                "files": JSONValue(files),
            ]
        }
    }

    func lines(colored: Bool) -> [String] {
        switch self {
        case .began(let file, let adapter): ["recording \(adapter) to \(file.printable); Ctrl-C ends it"]
        case .ended(let file, let records, let files):
            ["\(records) records in \(files == 1 ? "" : "\(files) files of ")\(file.printable)"]
        }
    }
}
