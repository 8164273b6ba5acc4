import BLECore
import DequeModule
import HCI

/// The connection events of a link (Core Specification 5.4, Vol 6, Part B, 4.5.1), where they are simulated: the host's
/// data leave at one, a few packets at each, and the host has its buffers back at the next.
extension VirtualController {
    /// Sends data of the host, now or at the link's next connection events.
    mutating func sendData(_ data: LinkSignal, on index: Int, at now: Instant) {
        guard packetsPerConnectionEvent != nil else { return send(data, on: index) }
        links[index].queued.append(data)
        awaitConnectionEvent(on: index, at: now)
    }

    /// The peer's host has taken a packet.
    mutating func acknowledge(on index: Int, at now: Instant) {
        guard packetsPerConnectionEvent != nil else { return release(1, on: index) }
        links[index].acknowledged += 1
        awaitConnectionEvent(on: index, at: now)
    }

    /// Does what waits for connection events that are due by `now`.
    mutating func holdConnectionEvents(at now: Instant) {
        for index in links.indices {
            guard let due = links[index].connectionEvent, due <= now else { continue }
            links[index].connectionEvent = nil
            release(links[index].acknowledged, on: index)
            links[index].acknowledged = 0
            for _ in 0..<(packetsPerConnectionEvent ?? .max) {
                guard let data = links[index].queued.popFirst() else { break }
                send(data, on: index)
            }
            if !links[index].queued.isEmpty { awaitConnectionEvent(on: index, at: now) }
        }
    }

    /// The events of all links with one interval are at the same times, its multiples.
    private mutating func awaitConnectionEvent(on index: Int, at now: Instant) {
        guard links[index].connectionEvent == nil else { return }
        let interval = UInt64(max(links[index].timing.interval.duration.nanoseconds, 1))
        links[index].connectionEvent = now + .nanoseconds(Int64(interval - now.nanoseconds % interval))
    }
}
