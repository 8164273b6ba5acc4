import BLECore
import GATT
import GATTClient

/// What the callers that use a link consume and wait for, and the tasks that work for it. It ends with the link.
/// Confined to its adapter.
final class LinkCallers {
    /// Serializes the requests to connect that apply their options to the link.
    let preparation: SerialQueue
    /// Serializes the callers that raise the link's security.
    let elevation: SerialQueue

    /// The streams that receive values of the server.
    var streams: [SubscriptionID: StreamBuffer<ReceivedValue>] = [:]
    /// What each of these streams has subscribed to.
    var feeds: [ValueFeed.Number: ValueFeed] = [:]
    var lastFeed: UInt64 = 0
    /// The streams that report Service Changed.
    var serviceChanges = Watchers<ServiceChange>()
    /// The streams that report every change of the link's parameters.
    var parameters = Watchers<LinkParameters>()

    /// The tasks that raise the link's security for operations whose server requires that.
    var raising: [TicketID: Task<Void, Never>] = [:]
    /// Ends when the last bond that was made on the link is saved, or cannot be.
    var saving: Task<Result<Void, BLEError>, Never>?
    /// The task that asks or shows the user something about a pairing.
    private var dialogue: Task<Void, Never>?

    init(of link: LinkID, in waits: Waits) {
        preparation = SerialQueue(of: link, in: waits)
        elevation = SerialQueue(of: link, in: waits)
    }

    /// Removes a task that waits for its turn.
    func abandonTurn(_ number: UInt64) {
        preparation.abandon(number)
        elevation.abandon(number)
    }

    /// Asks or shows the user something about a pairing. Cancels what was asked before.
    func ask(on loop: EventLoop, _ question: @escaping @Sendable () async -> Void) {
        endDialogue()
        dialogue = Task(executorPreference: loop) {
            // The pairing may have ended before the task began.
            if !Task.isCancelled { await question() }
        }
    }

    /// Cancels the task that asks or shows the user something.
    func endDialogue() { dialogue.take()?.cancel() }

    /// Fails all streams and every wait with this error, and all later turns in the queues.
    func end(_ error: BLEError) {
        let ended = feeds.sorted { $0.key < $1.key }
        (streams, feeds) = ([:], [:])
        for (_, feed) in ended { feed.buffer.finish(.failure(error)) }
        serviceChanges.finish(error)
        preparation.close(error)
        endDialogue()
        elevation.close(error)
        parameters.finish(error)
    }
}
