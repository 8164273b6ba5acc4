import BLE

/// An advertisement has come to its end before the command has.
struct AdvertisingEndedEvent: Event {
    /// Its place on the command line, from 0.
    var set: Int
    var end: AdvertisingEnd

    var json: JSONValue {
        ["event": "ended", "set": JSONValue(set), "reason": JSONValue(word)]
    }

    func lines(colored: Bool) -> [String] { ["advertisement \(set) ended: \(end)"] }

    private var word: String {
        switch end {
        case .stopped: "stopped"
        case .timeLimit: "time"
        case .eventLimit: "events"
        }
    }
}
