import BLECore
import Testing

@testable import BLE

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let lock = DeviceAddress(0xc102_0304_0507, type: .random)
private let hidden = DeviceAddress(0x4422_11cc_bbaa, type: .random)
private let hiddenLater = DeviceAddress(0x4533_11cc_bbaa, type: .random)

extension ConnectState {
    /// Adds a request for `peer`. The MTU identifies the request in `order`.
    fileprivate mutating func request(_ peer: DeviceAddress, mtu: UInt16) -> (
        ticket: ConnectTicket, isFirst: Bool
    ) {
        var options = ConnectionOptions()
        options.mtu = ATTMTU(mtu)
        let ticket = nextTicket()
        return (ticket, wait(Request(ticket: ticket, options: options), for: peer))
    }

    fileprivate mutating func search() -> ScanOptions? { search(at: .zero) }

    fileprivate func order(_ devices: DeviceAddress...) -> [Int] {
        requests(for: Set(devices)).map(\.options.mtu.octets)
    }
}

struct ConnectStateTests {
    @Test("requests for a device share an attempt, which ends with the last of them")
    func requestsForDeviceShareAttempt() {
        var state = ConnectState()
        let first = state.request(lamp, mtu: 50)
        let other = state.request(lock, mtu: 60)
        let second = state.request(lamp, mtu: 70)
        #expect(first.isFirst && other.isFirst && !second.isFirst)
        #expect(state.order(lamp, lock) == [50, 60, 70])
        #expect(state.leave(first.ticket) == nil)
        #expect(state.firstOptions(for: lamp)?.mtu.octets == 70)
        #expect(state.leave(second.ticket) == lamp)
        #expect(state.remove(lamp).map(\.ticket) == [second.ticket])
        #expect(!state.isWaiting(for: lamp) && state.isWaiting(for: lock))
        // Leaving again has no effect after the request has ended.
        #expect(state.leave(second.ticket) == nil)
    }

    @Test("requests for a renamed device join the requests under its new name")
    func renamingMergesRequests() {
        var state = ConnectState()
        _ = state.request(hidden, mtu: 50)
        _ = state.request(lamp, mtu: 60)
        state.rename(hidden, lamp)
        #expect(state.devices == [lamp] && state.order(lamp) == [50, 60])
        state.rename(hidden, lock)
        #expect(state.devices == [lamp])
        state.rename(lamp, lamp)
        #expect(state.devices == [lamp])
    }

    @Test("a searched peer is matched by the address that it was last found at")
    func latestAddressLeadsToSearchedPeer() {
        var state = ConnectState()
        _ = state.request(lamp, mtu: 50)
        #expect(state.find(lamp, as: hidden) == nil && state.search() == nil)
        state.search(for: lamp)
        #expect(state.search()?.repeats == .all && state.isSearching(for: lamp))
        #expect(state.find(lamp, as: hidden) == [])
        #expect(state.find(lamp, as: hidden) == nil)
        #expect(state.wanted(by: hidden) == lamp && state.order(hidden) == [50])
        #expect(state.find(lamp, as: hiddenLater) == [hidden])
        #expect(state.wanted(by: hidden) == hidden && state.wanted(by: hiddenLater) == lamp)
        #expect(state.endSearch(for: lamp) == [hiddenLater])
        #expect(!state.isSearching && state.wanted(by: hiddenLater) == hiddenLater)
    }

    @Test("the search covers LE Coded only when a request for a searched peer does")
    func codedRequestSearchesOnLECoded() {
        var state = ConnectState()
        var options = ConnectionOptions()
        options.phys = [.leCoded]
        _ = state.wait(.init(ticket: state.nextTicket(), options: options), for: lamp)
        state.search(for: lock)
        #expect(state.search()?.phys.contains(.leCoded) == false)
        state.search(for: lamp)
        #expect(state.search()?.phys.contains(.leCoded) == true)
        #expect(state.endSearches() == [lamp, lock] && state.search() == nil)
    }

    @Test("the search for peers slows to the background preset when all requests are patient")
    func patientRequestsSearchInBackground() {
        var state = ConnectState()
        var options = ConnectionOptions()
        options.background = .lowPower
        let end = Instant.zero + .seconds(30)
        _ = state.wait(.init(ticket: state.nextTicket(), options: options, eagerUntil: end), for: lamp)
        state.search(for: lamp)
        #expect(state.search(at: .zero)?.preset == .lowLatency && state.searchPaceEnd == end)
        #expect(state.search(at: end)?.preset == .lowPower && state.searchPaceEnd == nil)
        let (hurried, _) = state.request(lamp, mtu: 50)
        #expect(state.search(at: end)?.preset == .lowLatency && state.searchPaceEnd == nil)
        _ = state.leave(hurried)
        #expect(state.search(at: end)?.preset == .lowPower)
    }
}
