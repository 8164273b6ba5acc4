import BLECore
import DequeModule
import GATTClient

/// The data that an adapter's clients keep beyond their links.
struct ClientMemory {
    /// The databases of the peers that were connected last.
    var cache = DatabaseCache()
    private struct Ending {
        var link: LinkID
        var reason: DisconnectReason
        var error: BLEError
        var unsent: Int
        var hasServed: Bool
    }
    private var endings: Deque<Ending> = []
    /// The devices that do not answer the exchange of the MTU.
    private var mutes = RecencyTable<DeviceAddress, Bool>(limit: 256)

    /// Whether the exchange of the MTU is omitted on links to a device.
    func omitsMTU(to peer: DeviceAddress) -> Bool { mutes[peek: peer] ?? false }

    mutating func setOmitsMTU(_ omits: Bool, to peer: DeviceAddress) {
        _ = mutes.use(peer, first: omits) { $0 = omits }
    }

    /// Records why a link ended, and how many packets it had accepted but not sent, for callers that still
    /// hold the link. Only the last 64 links are kept.
    mutating func noteEnd(
        of link: LinkID, _ reason: DisconnectReason, _ error: BLEError, unsent: Int, hasServed: Bool
    ) {
        endings.append(
            Ending(link: link, reason: reason, error: error, unsent: unsent, hasServed: hasServed))
        if endings.count > 64 { endings.removeFirst() }
    }

    /// Returns the error for callers that still use a link that has ended; nil if that is not remembered.
    func end(of link: LinkID) -> BLEError? { ending(of: link)?.error }

    /// Returns why a link ended; nil if that is not remembered.
    func reason(of link: LinkID) -> DisconnectReason? { ending(of: link)?.reason }

    /// Returns how many packets a link had accepted but not sent when it ended; nil if that is not
    /// remembered.
    func unsent(on link: LinkID) -> Int? { ending(of: link)?.unsent }

    /// Whether the peer of a link that has ended was of use as a server; false if that is not remembered.
    func hasServed(on link: LinkID) -> Bool { ending(of: link)?.hasServed ?? false }

    private func ending(of link: LinkID) -> Ending? {
        endings.last { $0.link == link }
    }
}
