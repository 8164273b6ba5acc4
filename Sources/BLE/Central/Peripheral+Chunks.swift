import ATT
import BLECore
import GATTClient

/// How the parts of something long are written.
public enum ChunkWriting: Sendable {
    /// Each by a command, which has no response, as fast as the link takes them: the controller's buffers are
    /// the credits.
    case withoutResponse
    /// Each by a request, after the answer to the one before.
    case withResponse
    /// By commands, `initial` of them at first; then `more` is awaited whenever the credits are used up, and
    /// says how many may follow, 0 or fewer to be asked again. For devices with a flow control of their own.
    case credits(initial: Int, more: @Sendable () async throws(BLEError) -> Int)
}

/// How far a long write has come.
public struct ChunkProgress: Hashable, Sendable {
    /// The number of octets that have been written.
    public var written: Int
    /// The number of octets of the whole value.
    public var total: Int
}

extension Peripheral {
    /// Writes something of any length as parts of `size` octets, each a write of its own; nil: what fits one
    /// packet, the MTU less 3, which is 20 octets at MTU 23. Commands of more than that are
    /// `BLEError.limit`. `progress` is called after each part. Cancelling the task ends it between two parts.
    ///
    /// ```swift
    /// try await peripheral.write(firmware, to: upload, inPartsOf: 128) { print($0.written, "of", $0.total) }
    /// ```
    /// What the parts mean is an agreement with the device; `ValueReassembler` has the usual ones.
    public func write(
        _ value: [UInt8], to attribute: some AttributeReference, inPartsOf size: Int?,
        _ writing: ChunkWriting = .withoutResponse, progress: @Sendable (ChunkProgress) -> Void = { _ in }
    ) async throws(BLEError) {
        let fitting = try await maximumWriteLength
        var credits: Int?
        if case .credits(let initial, _) = writing { credits = initial }
        var chunks = ValueChunks(value, size: size ?? fitting, credits: credits)
        while !chunks.isDone {
            if Task.isCancelled { throw .cancelled }
            guard let part = chunks.next() else {
                guard case .credits(_, let more) = writing else { return }
                chunks.grant(try await more())
                continue
            }
            if case .withResponse = writing {
                try await write(Array(part), to: attribute)
            } else {
                try await writeWithoutResponse(Array(part), to: attribute)
            }
            progress(ChunkProgress(written: chunks.sent, total: chunks.total))
        }
    }
}
