import HCI

extension Adapter {
    /// Handles the cancellation of a task that waits. What the wait was for may go on.
    func cancelled(_ key: WaitKey) {
        switch key {
        // The controller still answers, but no caller waits for the answer.
        case .answer(let ticket): commands.cancel(ticket)
        // The operation ends, and so the wait.
        case .operation(let ticket): return cancel(ticket)
        case .advertisement(let id):
            radio.giveUp(id)
            return settle()
        case .connection(let ticket): cancel(ticket)
        case .departure(let link, let number): links[link]?.ending.cancel(number)
        // A procedure that has begun continues without a caller.
        case .procedure(let link, let number): links[link]?.procedures.giveUp(number)
        case .security(let link):
            waits.fail(key, .cancelled)
            return cancelPairing(on: link)
        case .turn(let link, let number): callers.links[link]?.abandonTurn(number)
        case .rest(let number): radio.cancelWait(number)
        case .update, .linkEnd, .power, .advertisingUpdate, .advertisingEnd, .offAir: break
        }
        waits.fail(key, .cancelled)
    }

    /// What the tasks that use an adapter wait for, for messages about a test that stands still: a phrase for each kind,
    /// with the number of tasks if there are several.
    var waitPhrases: [String] {
        var counts: [(phrase: String, count: Int)] = []
        func count(_ phrase: String, _ number: Int) {
            guard number > 0 else { return }
            if let place = counts.firstIndex(where: { $0.phrase == phrase }) {
                counts[place].count += number
            } else {
                counts.append((phrase, number))
            }
        }
        for key in waits.keys { count(key.phrase, 1) }
        count("advertisements", callers.scans.count)
        count("a periodic train", callers.trains.count)
        return counts.map { $0.count == 1 ? $0.phrase : "\($0.phrase) (\($0.count) times)" }
    }
}
