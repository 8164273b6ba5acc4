/// What a scan could not show or keep. Shown at its end, when something was lost.
struct ScanLossEvent {
    /// Advertisements that came faster than they were taken.
    var dropped: Int
    /// Devices that were forgotten, so that they count as new when they are received again.
    var evicted: Int

    var isNone: Bool { dropped == 0 && evicted == 0 }

    /// The object, behind those of the advertisements.
    var json: JSONValue { ["event": "loss", "dropped": JSONValue(dropped), "evicted": JSONValue(evicted)] }

    /// The messages for people, one for each kind of loss.
    var notes: [String] {
        var notes: [String] = []
        if dropped > 0 { notes.append("scan: \(dropped) advertisements came too fast to be shown") }
        if evicted > 0 {
            notes.append(
                "scan: more than 4,096 devices nearby; \(evicted) were forgotten and count as new again")
        }
        return notes
    }

    /// Shows it: messages for people, and the object with `--json`.
    func show(on console: Console) {
        if console.isJSON { console.output.line(json) }
        for note in notes { console.note(note) }
    }
}
