import BLECore

/// Puts the fragments of one connection's L2CAP frames together (Core Specification 5.4, Vol 3, Part A,
/// 7.2.2).
///
/// A broken frame is dropped and reported; the next start of a frame is good again. A frame that comes in
/// one fragment is handed over in place.
package struct ACLReassembler: Sendable {
    /// The most octets of payload that a frame may have.
    package let maximumPayload: Int
    /// Octets of the unfinished frame, its header included.
    package var pendingCount: Int { partial.count }

    /// Whether a continuation of so many octets belongs to the frame that has begun.
    package func takes(_ count: Int) -> Bool {
        switch state {
        case .idle: false
        case .collecting: (try? isWhole(partial.span, and: count)) != nil
        case .skipping: true
        }
    }

    private enum State {
        /// No frame is incomplete.
        case idle
        /// A frame has begun and lacks octets.
        case collecting
        /// A frame was dropped, and its continuations are to be.
        case skipping
    }
    private var state = State.idle
    private var partial: [UInt8] = []

    /// A reassembler between two frames. A longer frame than `maximumPayload` is dropped before memory is
    /// spent on it.
    package init(maximumPayload: Int = L2CAPFrame.maximumPayload) { self.maximumPayload = maximumPayload }

    /// Takes the next fragment, and calls `take` with channel and payload when a frame is whole now; they
    /// are valid during the call.
    ///
    /// - Throws: what was wrong with the fragment or with the frame that it should have continued. A new
    ///   frame that began here has been taken nevertheless.
    package mutating func receive(
        _ boundary: ACLPacket.Boundary, _ fragment: Span<UInt8>,
        _ take: (L2CAPChannelID, Span<UInt8>) -> Void
    ) throws(ACLReassemblyError) {
        switch boundary {
        case .firstNonFlushable, .firstFlushable: try start(fragment, take)
        case .continuing: try proceed(fragment, take)
        case .complete: throw .boundaryNotForLE
        }
    }

    private mutating func start(
        _ fragment: Span<UInt8>, _ take: (L2CAPChannelID, Span<UInt8>) -> Void
    ) throws(ACLReassemblyError) {
        let unfinished = state == .collecting ? ACLReassemblyError.incomplete(received: partial.count) : nil
        partial.removeAll(keepingCapacity: true)
        state = .skipping
        if try isWhole(fragment, and: 0) {
            state = .idle
            Self.hand(fragment, take)
        } else {
            state = .collecting
            partial.append(copying: fragment)
        }
        if let unfinished { throw unfinished }
    }

    private mutating func proceed(
        _ fragment: Span<UInt8>, _ take: (L2CAPChannelID, Span<UInt8>) -> Void
    ) throws(ACLReassemblyError) {
        switch state {
        case .skipping: return
        case .idle: throw .continuationWithoutStart(octets: fragment.count)
        case .collecting: state = .skipping
        }
        // Where the header is known, its claim is checked before anything is copied.
        _ = try isWhole(partial.span, and: fragment.count)
        partial.append(copying: fragment)
        if try isWhole(partial.span, and: 0) {
            state = .idle
            Self.hand(partial.span, take)
            partial.removeAll(keepingCapacity: true)
        } else {
            state = .collecting
        }
    }

    /// Whether the octets of `start` and `more` behind them are a whole frame, and no more than that.
    private func isWhole(_ start: Span<UInt8>, and more: Int) throws(ACLReassemblyError) -> Bool {
        guard start.count >= L2CAPFrame.headerLength else { return false }
        let payload = Int(start[0]) | Int(start[1]) << 8
        let received = start.count + more - L2CAPFrame.headerLength
        guard payload <= maximumPayload else { throw .tooLong(payload: payload, limit: maximumPayload) }
        guard received <= payload else { throw .overlong(received: received, payload: payload) }
        return received == payload
    }

    private static func hand(_ frame: Span<UInt8>, _ take: (L2CAPChannelID, Span<UInt8>) -> Void) {
        let channel = L2CAPChannelID(rawValue: UInt16(frame[2]) | UInt16(frame[3]) << 8)
        take(channel, frame.extracting(L2CAPFrame.headerLength..<frame.count))
    }
}

/// What can be wrong with the fragments of a connection.
package enum ACLReassemblyError: Error, Hashable, Sendable {
    /// A continuation came while no frame had begun; its octets are dropped.
    case continuationWithoutStart(octets: Int)
    /// A frame began while the one before lacked octets; that one is dropped after `received` octets.
    case incomplete(received: Int)
    /// The fragments hold more octets of payload than the frame's header says; the frame is dropped.
    case overlong(received: Int, payload: Int)
    /// The frame's header claims more payload than is taken; the frame is dropped.
    case tooLong(payload: Int, limit: Int)
    /// The packet boundary flag is one that LE does not use; the fragment is dropped.
    case boundaryNotForLE
}

extension ACLReassemblyError: CustomStringConvertible {
    /// One line: "a frame began while the one before was incomplete, with 12 octets received".
    package var description: String {
        switch self {
        case .continuationWithoutStart(let octets): "a continuation of \(octets) octets without a start"
        case .incomplete(let received):
            "a frame began while the one before was incomplete, with \(received) octets received"
        case .overlong(let received, let payload):
            "\(received) octets came for a frame with \(payload) octets of payload"
        case .tooLong(let payload, let limit):
            "a frame claims \(payload) octets of payload, more than the limit of \(limit)"
        case .boundaryNotForLE: "a packet boundary flag that LE does not use"
        }
    }
}
