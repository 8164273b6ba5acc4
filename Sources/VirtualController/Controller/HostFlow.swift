import BLECore
import DequeModule
import HCI

/// The flow control of data from the controller to its host (Core Specification 5.4, Vol 4, Part E, 4.2).
/// Unless the host configures it, the host accepts all data without limits.
struct HostFlow: Sendable {
    /// Whether the host reports which packets it has processed.
    var isOn = false
    /// The maximum length of the data in a packet for the host, in octets.
    var packetLength = 0xffff
    /// The number of packets for which the host has buffers.
    var packets = Int.max
    /// The number of packets that the host has not completed, by link.
    private var taken: [ConnectionHandle: Int] = [:]
    /// The packets for which the host has no buffer, oldest first.
    private var withheld: Deque<DataForHost> = []

    /// Whether the host has room for a packet that was withheld.
    var isReady: Bool { hasRoom && !withheld.isEmpty }

    private var hasRoom: Bool { !isOn || taken.values.reduce(0, +) < packets }

    /// Returns the oldest withheld packet, if the host has room for it.
    mutating func next() -> DataForHost? {
        guard hasRoom, let data = withheld.popFirst() else { return nil }
        note(data)
        return data
    }

    /// Returns whether the host has room for a packet, or withholds the packet and returns false.
    mutating func admit(_ data: DataForHost) -> Bool {
        guard hasRoom else {
            withheld.append(data)
            return false
        }
        note(data)
        return true
    }

    private mutating func note(_ data: DataForHost) {
        if isOn { taken[data.handle, default: 0] += 1 }
    }

    /// Processes the host's report of completed packets; returns false if the host did not have that many
    /// packets.
    mutating func complete(_ completed: CompletedPackets) -> Bool {
        let count = Int(completed.count)
        guard count <= taken[completed.connection, default: 0] else { return false }
        taken[completed.connection, default: 0] -= count
        return true
    }

    /// Removes all packets of a link that has ended.
    mutating func forget(_ handle: ConnectionHandle) {
        taken[handle] = nil
        withheld.removeAll { $0.handle == handle }
    }
}

/// A packet of data for the host.
struct DataForHost: Sendable {
    let packet: ACLPacket
    let link: AirLinkID
    /// Whether the packet contains the end of a fragment as the peer's host sent it.
    let isWhole: Bool

    var handle: ConnectionHandle { packet.handle }
}

extension VirtualController {
    /// Queues data from the peer for the host, split into packets that fit the host's buffers.
    mutating func deliver(_ data: [UInt8], isStart: Bool, on index: Int) {
        let (handle, link, length) = (links[index].handle, links[index].id, settings.hostFlow.packetLength)
        for place in stride(from: 0, to: data.count, by: length) {
            let rest = data[place...]
            let packet = ACLPacket(
                handle: handle, boundary: isStart && place == 0 ? .firstFlushable : .continuing,
                data: data.count <= length ? data : Array(rest.prefix(length)))
            queue(DataForHost(packet: packet, link: link, isWhole: rest.count <= length))
        }
    }

    /// Returns the bytes of a packet for the host. If the packet completes a fragment of the peer's host, the
    /// peer is notified.
    mutating func give(_ data: DataForHost) -> [UInt8] {
        if data.isWhole, let index = links.indices.first(where: { links[$0].id == data.link }) {
            send(.acknowledged, on: index)
        }
        return HCIPacket.acl(data.packet).encoded
    }
}
