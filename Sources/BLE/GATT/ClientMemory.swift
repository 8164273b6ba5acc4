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
    /// What is known of a device and the exchange of the MTU.
    private enum MTUExchange {
        case works
        /// The device has ended a link during the exchange, which is omitted on the next one.
        case endedLink
        /// A link without the exchange has followed: the end of the first one may have been a coincidence.
        case mayEndLink
        /// The device does not answer the exchange, or has ended two links during it.
        case fails
    }
    private var exchanges = RecencyTable<DeviceAddress, MTUExchange>(limit: 256)

    private mutating func note(_ exchange: MTUExchange, with peer: DeviceAddress) {
        _ = exchanges.use(peer, first: exchange) { $0 = exchange }
    }

    /// Whether the exchange of the MTU is omitted on the next link to a device.
    func omitsMTU(to peer: DeviceAddress) -> Bool {
        switch exchanges[peek: peer] {
        case .endedLink, .fails: true
        case .works, .mayEndLink, nil: false
        }
    }

    /// Notes that a device has not answered the exchange of the MTU, or has ended the link instead.
    mutating func noteNoMTU(of peer: DeviceAddress, hasEndedLink: Bool) {
        let isFirst = hasEndedLink && exchanges[peek: peer] != .mayEndLink
        note(isFirst ? .endedLink : .fails, with: peer)
    }

    /// Notes that a device has answered the exchange of the MTU, or that a link without it was no better.
    mutating func noteMTU(of peer: DeviceAddress) {
        if exchanges[peek: peer] != nil { note(.works, with: peer) }
    }

    /// Notes that a link to a device is set up without the exchange of the MTU.
    mutating func noteLinkWithoutMTU(to peer: DeviceAddress) {
        if exchanges[peek: peer] == .endedLink { note(.mayEndLink, with: peer) }
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
