import BLECore

/// Combines the fragments of one connection's L2CAP frames (Core Specification 5.4, Vol 3, Part A, 7.2.2).
///
/// A malformed frame is dropped and reported; the next start of a frame is accepted again. A frame in a
/// single fragment is delivered in place.
package struct ACLReassembler: Sendable {
    /// The maximum payload of a frame, in octets.
    package let maximumPayload: Int
    /// The number of octets of the incomplete frame, including its header.
    package var pendingCount: Int { partial.count }

    /// Returns whether a continuation of that many octets belongs to the frame in progress.
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
        /// A frame has started but is incomplete.
        case collecting
        /// A frame was dropped, and its continuations are dropped as well.
        case skipping
    }
    private var state = State.idle
    private var partial: [UInt8] = []

    /// Creates a reassembler that waits for a frame. A frame longer than `maximumPayload` is dropped before
    /// memory is allocated for it.
    package init(maximumPayload: Int = L2CAPFrame.maximumPayload) { self.maximumPayload = maximumPayload }

    /// Drops the frame in progress, and its continuations.
    package mutating func skip() {
        state = .skipping
        partial.removeAll(keepingCapacity: true)
    }

    /// Handles the next fragment, and calls `take` with the channel and the payload if it completes a frame.
    /// Both are valid during the call.
    ///
    /// - Throws: the error in the fragment, or in the frame that it should have continued. If a new frame
    ///   begins with the fragment, it is processed nevertheless.
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
        // If the header is complete, its length field is checked before anything is copied.
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

    /// Returns whether the octets of `start`, followed by `more` octets, are a complete frame. Throws if they
    /// are longer than the frame.
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

/// An error in the fragments of a connection.
package enum ACLReassemblyError: Error, Hashable, Sendable {
    /// A continuation was received without a frame in progress; its octets are dropped.
    case continuationWithoutStart(octets: Int)
    /// A frame started while the previous one was incomplete; that one is dropped after `received` octets.
    case incomplete(received: Int)
    /// The fragments contain more octets of payload than the frame's header states; the frame is dropped.
    case overlong(received: Int, payload: Int)
    /// The frame's header states a longer payload than the limit; the frame is dropped.
    case tooLong(payload: Int, limit: Int)
    /// LE does not use this packet boundary flag; the fragment is dropped.
    case boundaryNotForLE
}

extension ACLReassemblyError: CustomStringConvertible {
    /// The error as one line: "a frame began while the one before was incomplete, with 12 octets received".
    package var description: String {
        switch self {
        case .continuationWithoutStart(let octets): "a continuation of \(octets) octets without a start"
        case .incomplete(let received):
            "a frame began while the one before was incomplete, with \(received) octets received"
        case .overlong(let received, let payload):
            "\(received) octets were received for a frame with \(payload) octets of payload"
        case .tooLong(let payload, let limit):
            "a frame claims \(payload) octets of payload, more than the limit of \(limit)"
        case .boundaryNotForLE: "a packet boundary flag that LE does not use"
        }
    }
}
