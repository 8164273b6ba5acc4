import BLECore
import DequeModule

/// Schedules outgoing L2CAP frames within the controller's buffers. It has a queue for each connection,
/// splits frames into fragments of the size that the controller accepts, and never sends more fragments than
/// the controller has buffers for (Core Specification 5.4, Vol 4, Part E, 4.1).
///
/// Connections take turns, one packet each. Connections that hold buffers leave one free for each connection
/// that holds none, up to a quarter of all buffers or up to one, whichever is more. A link whose peer does
/// not respond therefore cannot block the others, and a single busy connection can use all other buffers.
package struct ACLFlow: Sendable {
    /// The maximum number of data octets that the controller accepts in a packet.
    package private(set) var packetLength = 0
    /// The number of packets that the controller can buffer.
    package private(set) var packetCount = 0
    /// The maximum number of octets of frames, including headers, that wait on a connection; one frame can
    /// always wait.
    package let queueLimit: Int

    private struct Frame {
        var octets: [UInt8]
        var kind = Kind.other
    }

    /// Frames are counted separately: those for whose departure a caller can wait, and all others.
    private enum Kind {
        case awaited, other
    }

    private struct Connection {
        var frames: Deque<Frame> = []
        /// The number of octets of the first frame that have been sent.
        var sent = 0
        /// The number of octets of all frames that have not been sent.
        var octets = 0
        /// The packets that the controller has not reported as completed, oldest first: for each the kind of
        /// the frame that it ends, or nil if it ends none.
        var inFlight: Deque<Kind?> = []
        /// The number of awaited frames that the controller has reported as completed.
        var departed = 0
        /// The number of packets that the controller has reported as completed.
        var completed = 0

        var unacknowledged: Int { inFlight.count }

        /// Writes the next packet. Returns the frame that it ends, if any.
        mutating func writePacket(
            of handle: ConnectionHandle, upTo limit: Int, into output: inout OutputSpan<UInt8>
        ) -> [UInt8]? {
            guard let frame = frames.first else { return nil }
            let count = frame.octets.count
            let fragment = frame.octets[sent..<min(sent + limit, count)]
            let boundary: ACLPacket.Boundary = sent == 0 ? .firstNonFlushable : .continuing
            output.u8(HCIPacketType.acl.rawValue)
            output.aclHeader(handle, boundary, count: fragment.count)
            output.bytes(fragment)
            sent += fragment.count
            octets -= fragment.count
            inFlight.append(sent == count ? frame.kind : nil)
            guard sent == count else { return nil }
            sent = 0
            return frames.removeFirst().octets
        }

        /// Removes the oldest `count` packets in the controller.
        mutating func complete(_ count: Int) {
            departed += inFlight.prefix(count).count { $0 == .awaited }
            inFlight.removeFirst(count)
            completed += count
        }
    }
    private var connections: [ConnectionHandle: Connection] = [:]
    /// The connections with frames to send, in the order of their turns.
    private var turns: Deque<ConnectionHandle> = []
    /// The number of connections without a packet in the controller.
    private var withoutBuffer = 0
    private var inFlight = 0
    /// Memory of frames that have been sent, at most `spareLimit`, which later frames reuse to avoid
    /// allocations.
    private var spare: [[UInt8]] = []
    private static let spareLimit = 8

    /// Creates a flow that sends nothing until `configure` sets the controller's buffers.
    package init(queueLimit: Int = 1 << 18) { self.queueLimit = queueLimit }

    /// Sets the controller's buffers: those from LE Read Buffer Size or, if it reports none, those from Read
    /// Buffer Size, which LE and BR/EDR then share (Vol 4, Part E, 7.8.2).
    package mutating func configure(packetLength: Int, packets: Int) {
        self.packetLength = max(packetLength, 0)
        packetCount = max(packets, 0)
    }

    /// The maximum size of `nextPacket`'s output in octets: the type octet, the header and the data.
    package var maximumPacketLength: Int { 5 + packetLength }
}

// MARK: - Connections

extension ACLFlow {
    /// Adds a connection. Frames that were queued for an earlier connection with this handle are dropped.
    package mutating func open(_ handle: ConnectionHandle) {
        close(handle)
        connections[handle] = Connection()
        withoutBuffer += 1
    }

    /// Removes a connection. Its waiting frames are dropped, and the buffers that it held count as free,
    /// because the controller has flushed them (Vol 4, Part E, 4.1.1).
    package mutating func close(_ handle: ConnectionHandle) {
        guard let connection = connections.removeValue(forKey: handle) else { return }
        inFlight -= connection.unacknowledged
        if connection.unacknowledged == 0 { withoutBuffer -= 1 }
        if !connection.frames.isEmpty { turns.removeAll { $0 == handle } }
    }

    /// Returns the number of frames of a connection that have not been sent completely.
    package func queuedFrames(_ handle: ConnectionHandle) -> Int { connections[handle]?.frames.count ?? 0 }

    /// Returns the number of octets of a connection's frames that have not been sent.
    package func queuedOctets(_ handle: ConnectionHandle) -> Int { connections[handle]?.octets ?? 0 }

    /// Returns the number of packets of a connection that the controller holds.
    package func unacknowledged(_ handle: ConnectionHandle) -> Int {
        connections[handle]?.unacknowledged ?? 0
    }

    /// Returns the number of packets of a connection that the controller has reported as completed since the
    /// connection was opened.
    package func completedPackets(_ handle: ConnectionHandle) -> Int { connections[handle]?.completed ?? 0 }

    /// Drops the frames of a connection that the controller does not have yet.
    package mutating func dropFrames(of handle: ConnectionHandle) {
        guard connections[handle]?.frames.isEmpty == false else { return }
        connections[handle]?.frames.removeAll()
        connections[handle]?.octets = 0
        connections[handle]?.sent = 0
        turns.removeAll { $0 == handle }
    }

    /// Returns the number of queued frames of a connection that the controller has not reported as completed
    /// in all their fragments: those queued as awaited, and the others.
    package func unsentFrames(_ handle: ConnectionHandle) -> (awaited: Int, others: Int) {
        guard let connection = connections[handle] else { return (0, 0) }
        func count(_ kind: Kind) -> Int {
            connection.frames.count { $0.kind == kind } + connection.inFlight.count { $0 == kind }
        }
        return (count(.awaited), count(.other))
    }

    /// Returns the number of frames of a connection, queued as awaited, that the controller has reported as
    /// completed since the connection was opened.
    package func departedFrames(_ handle: ConnectionHandle) -> Int { connections[handle]?.departed ?? 0 }

    /// The number of packets that the controller can buffer now.
    package var freePackets: Int { max(packetCount - inFlight, 0) }
}

// MARK: - Data

extension ACLFlow {
    /// Queues a frame with `payload` for `channel` of a connection.
    /// - Throws: if the frame is rejected; nothing is queued then.
    package mutating func enqueue(
        _ payload: Span<UInt8>, on channel: L2CAPChannelID, of handle: ConnectionHandle
    ) throws(ACLFlowError) {
        guard connections[handle] != nil else { throw .unknownConnection(handle) }
        guard payload.count <= L2CAPFrame.maximumPayload else {
            throw .tooLong(payload: payload.count, limit: L2CAPFrame.maximumPayload)
        }
        let length = L2CAPFrame.headerLength + payload.count
        let queued = queuedOctets(handle)
        guard queued == 0 || queued + length <= queueLimit else {
            throw .queueFull(handle, octets: queued, limit: queueLimit)
        }
        let octets = [UInt8](capacity: length) { output in
            output.l2capHeader(channel, payloadLength: payload.count)
            output.bytes(payload)
        }
        queue(Frame(octets: octets), of: handle)
    }

    /// Queues a frame into which `write` writes the payload, without a copy. Returns false if `write` writes
    /// nothing. Also returns false, without calling `write`, if the queue has no room for a payload of
    /// `limit` octets. `isAwaited` decides by the first octet of the payload whether `unsentFrames` counts
    /// the frame as awaited.
    ///
    /// - Throws: if the connection does not exist.
    package mutating func enqueue(
        on channel: L2CAPChannelID, of handle: ConnectionHandle, upTo limit: Int,
        awaited isAwaited: (UInt8) -> Bool = { _ in false },
        _ write: (inout OutputSpan<UInt8>) -> Void
    ) throws(ACLFlowError) -> Bool {
        guard connections[handle] != nil else { throw .unknownConnection(handle) }
        let limit = min(limit, L2CAPFrame.maximumPayload)
        let queued = queuedOctets(handle)
        guard queued == 0 || queued + L2CAPFrame.headerLength + limit <= queueLimit else { return false }
        var frame = spare.popLast() ?? []
        frame.append(addingCapacity: L2CAPFrame.headerLength + limit) { output in
            output.l2capHeader(channel, payloadLength: 0)
            write(&output)
        }
        let length = frame.count - L2CAPFrame.headerLength
        guard length > 0 else {
            keep(frame)
            return false
        }
        frame[0] = UInt8(truncatingIfNeeded: length)
        frame[1] = UInt8(truncatingIfNeeded: length >> 8)
        let first = frame[L2CAPFrame.headerLength]
        queue(Frame(octets: frame, kind: isAwaited(first) ? .awaited : .other), of: handle)
        return true
    }

    private mutating func queue(_ frame: Frame, of handle: ConnectionHandle) {
        if queuedFrames(handle) == 0 { turns.append(handle) }
        connections[handle]?.octets += frame.octets.count
        connections[handle]?.frames.append(frame)
    }

    /// Keeps the memory of a frame for later frames, unless it is large.
    private mutating func keep(_ frame: consuming [UInt8]) {
        guard spare.count < Self.spareLimit, frame.capacity <= 2048 else { return }
        frame.removeAll(keepingCapacity: true)
        spare.append(frame)
    }

    /// Writes the next packet for the controller: type octet, header, data. Returns false if there is none or
    /// no free buffer for it.
    package mutating func nextPacket(into output: inout OutputSpan<UInt8>) -> Bool {
        guard packetLength > 0, freePackets > 0, let turn = nextTurn() else { return false }
        let handle = turns.remove(at: turn)
        if unacknowledged(handle) == 0 { withoutBuffer -= 1 }
        if let frame = connections[handle]?.writePacket(of: handle, upTo: packetLength, into: &output) {
            keep(frame)
        }
        if queuedFrames(handle) > 0 { turns.append(handle) }
        inFlight += 1
        return true
    }

    /// Handles an entry of a Number Of Completed Packets event (Vol 4, Part E, 7.7.19).
    /// - Throws: if the entry is invalid, after crediting as many packets as possible.
    package mutating func complete(_ completed: CompletedPackets) throws(ACLFlowError) {
        let handle = completed.connection
        guard let held = connections[handle]?.unacknowledged else { throw .unknownConnection(handle) }
        let count = min(Int(completed.count), held)
        connections[handle]?.complete(count)
        inFlight -= count
        if count > 0, count == held { withoutBuffer += 1 }
        guard Int(completed.count) == count else {
            throw .tooManyCompleted(handle, claimed: Int(completed.count), sent: held)
        }
    }

    /// Returns the index in `turns` of the connection that sends next.
    private func nextTurn() -> Int? {
        let spare = freePackets - min(withoutBuffer, max(packetCount / 4, 1))
        return turns.firstIndex { spare > 0 || unacknowledged($0) == 0 }
    }
}

extension OutputSpan where Element == UInt8 {
    /// Writes the header of a packet with `count` octets of data, at most 65,535.
    @_lifetime(self: copy self)
    mutating func aclHeader(_ handle: ConnectionHandle, _ boundary: ACLPacket.Boundary, count: Int) {
        u16(handle.rawValue | UInt16(boundary.rawValue) << 12)
        u16(UInt16(clamping: count))
    }
}

/// An error in a request to send, or in a report of completed packets.
package enum ACLFlowError: Error, Hashable, Sendable {
    case unknownConnection(ConnectionHandle)
    /// The payload is longer than a frame can carry.
    case tooLong(payload: Int, limit: Int)
    /// The connection's queue contains `octets` octets, and its maximum is `limit`.
    case queueFull(ConnectionHandle, octets: Int, limit: Int)
    /// The controller reported more packets as completed than it had.
    case tooManyCompleted(ConnectionHandle, claimed: Int, sent: Int)
}

extension ACLFlowError: CustomStringConvertible {
    /// The error as one line of text: "there is no connection 0x0040".
    package var description: String {
        switch self {
        case .unknownConnection(let handle): "there is no connection \(handle)"
        case .tooLong(let payload, let limit):
            "a payload of \(payload) octets is more than the limit of \(limit)"
        case .queueFull(let handle, let octets, let limit):
            "\(octets) octets wait on connection \(handle), and the limit is \(limit)"
        case .tooManyCompleted(let handle, let claimed, let sent):
            "the controller reports \(claimed) packets of connection \(handle) as completed, but \(sent) were sent"
        }
    }
}
