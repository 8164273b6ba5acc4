import BLECore
import DequeModule
import HCI

/// What the host can take of the data of its links (Core Specification 5.4, Vol 4, Part E, 4.2). Unless it
/// says otherwise it takes all, as they are.
struct HostFlow: Sendable {
    /// Whether the host reports which packets it has processed.
    var isOn = false
    /// The most octets of data in a packet for the host.
    var packetLength = 0xffff
    /// How many packets it has buffers for.
    var packets = Int.max
    /// The packets that it is not done with.
    private var taken: [ConnectionHandle: Int] = [:]
    /// What there is no buffer for, oldest first.
    private var withheld: Deque<DataForHost> = []

    /// Whether the host has room for something that waited.
    var isReady: Bool { hasRoom && !withheld.isEmpty }

    private var hasRoom: Bool { !isOn || taken.values.reduce(0, +) < packets }

    /// The oldest packet that waited, if there is room now.
    mutating func next() -> DataForHost? {
        guard hasRoom, let data = withheld.popFirst() else { return nil }
        note(data)
        return data
    }

    /// A packet's turn has come: false when it has to wait.
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

    /// The host is done with packets; false when it did not have them.
    mutating func complete(_ completed: CompletedPackets) -> Bool {
        let count = Int(completed.count)
        guard count <= taken[completed.connection, default: 0] else { return false }
        taken[completed.connection, default: 0] -= count
        return true
    }

    /// A link has ended, and all that there was of it.
    mutating func forget(_ handle: ConnectionHandle) {
        taken[handle] = nil
        withheld.removeAll { $0.handle == handle }
    }
}

/// A packet of data for the host.
struct DataForHost: Sendable {
    let packet: ACLPacket
    let link: AirLinkID
    /// Whether it is the last of what the peer's host has sent as one.
    let isWhole: Bool

    var handle: ConnectionHandle { packet.handle }
}

extension VirtualController {
    /// Gives data of the peer to the host, in as many packets as its buffers need.
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

    /// The bytes of data that the host takes now. When it has all that its peer's host has sent as one, the
    /// peer is notified.
    mutating func give(_ data: DataForHost) -> [UInt8] {
        if data.isWhole, let index = links.indices.first(where: { links[$0].id == data.link }) {
            send(.acknowledged, on: index)
        }
        return HCIPacket.acl(data.packet).encoded
    }
}
