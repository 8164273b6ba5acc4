import BLECore
import DequeModule
import GATTClient

/// What an adapter's clients remember beyond their links.
struct ClientMemory {
    /// The databases of the peers met last.
    var cache = DatabaseCache()
    private struct Ending {
        var link: LinkID
        var reason: DisconnectReason
        var error: BLEError
        var unsent: Int
    }
    private var endings: Deque<Ending> = []

    /// Remembers why a link ended, and how many packets it took and did not send, for those who still hold it; of the
    /// last 64 links.
    mutating func noteEnd(
        of link: LinkID, _ reason: DisconnectReason, _ error: BLEError, unsent: Int
    ) {
        endings.append(Ending(link: link, reason: reason, error: error, unsent: unsent))
        if endings.count > 64 { endings.removeFirst() }
    }

    /// The error for callers that still use a link that ended; nil when nothing is known of it any more.
    func end(of link: LinkID) -> BLEError? { ending(of: link)?.error }

    /// Returns why a link ended; nil if that is not remembered.
    func reason(of link: LinkID) -> DisconnectReason? { ending(of: link)?.reason }

    /// How many packets a link had taken and not sent when it ended; nil: nothing is known of it any more.
    func unsent(on link: LinkID) -> Int? { ending(of: link)?.unsent }

    private func ending(of link: LinkID) -> Ending? {
        endings.last { $0.link == link }
    }
}
