/// `capture`: a recording begins and ends.
enum CaptureEvent: Event {
    /// Packets are recorded from now on.
    case began(file: String, adapter: String)
    /// All are in the file; of several files, so many are left.
    case ended(file: String, records: Int, files: Int, kept: Int)

    var json: JSONValue {
        switch self {
        case .began(let file, let adapter):
            ["event": "capturing", "file": .string(file), "adapter": .string(adapter)]
        case .ended(let file, let records, let files, _):
            [
                "event": "captured", "file": .string(file), "records": JSONValue(records),
                "files": JSONValue(files),
            ]
        }
    }

    func lines(colored: Bool) -> [String] {
        switch self {
        case .began(let file, let adapter): ["recording \(adapter) to \(file.printable); Ctrl-C ends it"]
        case .ended(let file, let records, let files, let kept):
            [
                "\(records) records in \(files == 1 ? "" : "\(files) files of ")\(file.printable)"
                    + (kept < files ? "; the newest \(kept == 1 ? "is" : "\(kept) are") kept" : "")
            ]
        }
    }
}
