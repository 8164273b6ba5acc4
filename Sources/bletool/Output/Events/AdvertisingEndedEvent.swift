import BLE

/// An advertisement that ended before the command did.
struct AdvertisingEndedEvent: Event {
    /// The index of the advertisement on the command line, from 0.
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
