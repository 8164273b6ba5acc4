/// What the tasks that use an adapter wait for, for messages about a test that stands still.
extension Adapter {
    /// A phrase for each kind of wait, with the number of tasks if there are several.
    var waits: [String] {
        let counts: [(Int, String)] = [
            (answers.count, "the answer to a command"), (connects.count, "a connection"),
            (operations.count, "the end of a GATT operation"),
            (procedures.count, "the end of a link procedure"),
            (securings.count, "the security of a link"), (updates.count, "values to be sent to subscribers"),
            (endings.count, "the end of a link"), (departures.count, "the departure of a peer"),
            (idle.count, "the end of all work"), (power.count, "power"),
            (advertising.started.count, "an advertisement to begin"),
            (advertising.updated.count, "an advertisement to change"),
            (advertising.ended.count, "the end of an advertisement"),
            (advertising.departed.count, "an advertisement to leave the air"),
            (callers.scans.count, "advertisements"),
            (callers.trains.count, "a periodic train"),
        ]
        return counts.filter { $0.0 > 0 }.map { $0.0 == 1 ? $0.1 : "\($0.1) (\($0.0) times)" }
    }
}
