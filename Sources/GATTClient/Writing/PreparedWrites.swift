import ATT
import BLECore

/// A procedure that makes the server queue parts and then write them all at once.
protocol PreparingProcedure: GATTProcedure where Output == Void {
    var writes: PreparedWrites { get set }
}

extension PreparingProcedure {
    /// Returns the next request, or no value when everything is written.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<Void> {
        try writes.next(ATTMTU(UInt16(clamping: mtu))).map { .ask($0) } ?? .done(())
    }

    /// Handles the response. After a rejection, the queue is emptied first, and then the error is thrown.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        try writes.receive(response)
    }

    /// The request that empties the queue, if the queue may contain something.
    package var undo: ATTRequest? { writes.mayBeQueued ? .executeWrite(.cancel) : nil }
}

/// A Prepare Write for every part, then Execute Write; after a failure, an Execute Write that cancels.
struct PreparedWrites: Sendable {
    struct Write {
        let handle: AttributeHandle
        let value: [UInt8]
        let start: UInt16
    }

    private enum Phase {
        case preparing, executing, done
        /// The queue is being emptied because of this error.
        case cancelling(GATTClientError)
    }

    private let writes: [Write]
    private let comparesEcho: Bool
    private var phase = Phase.preparing
    /// The index of the current write, and the number of octets of its value that the server has queued.
    private var index = 0
    private var count = 0
    private var part: ArraySlice<UInt8> = []
    private var isQueued = false
    /// Whether the server has queued a part, or will when it processes the last request.
    private(set) var mayBeQueued = false

    init(_ writes: [Write], comparesEcho: Bool) {
        self.writes = writes
        self.comparesEcho = comparesEcho
    }

    /// Returns the next request; nil when everything is written.
    mutating func next(_ mtu: ATTMTU) throws(GATTClientError) -> ATTRequest? {
        switch phase {
        case .done: return nil
        case .executing: return .executeWrite(.write)
        case .cancelling: return .executeWrite(.cancel)
        case .preparing:
            try checkLengths()
            guard index < writes.count else {
                phase = isQueued ? .executing : .done
                return try next(mtu)
            }
            mayBeQueued = true
            let write = writes[index]
            part = write.value.dropFirst(count).prefix(mtu.prepareWriteValue)
            return .prepareWrite(write.handle, offset: offset, value: Array(part))
        }
    }

    mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        switch (phase, response) {
        case (.cancelling(let error), _):
            mayBeQueued = false
            throw error
        case (.executing, .executeWrite):
            phase = .done
            mayBeQueued = false
        case (.executing, .error(let error)):
            // The queue is empty whether or not the writes succeeded (Part F, 3.4.6.3).
            mayBeQueued = false
            throw .att(error)
        case (.preparing, .error(let error)):
            mayBeQueued = isQueued
            try fail(.att(error))
        case (.preparing, .prepareWrite(let handle, let offset, let value)) where index < writes.count:
            isQueued = true
            try queued(handle, offset, value)
        case (.executing, _): throw .misbehaving(.executeWriteRequest, .unexpectedResponse(response.opcode))
        case (.preparing, _), (.done, _):
            try fail(.misbehaving(.prepareWriteRequest, .unexpectedResponse(response.opcode)))
        }
    }

    private mutating func queued(
        _ handle: AttributeHandle, _ offset: UInt16, _ value: [UInt8]
    ) throws(GATTClientError) {
        let write = writes[index]
        let isEcho = handle == write.handle && offset == self.offset && value[...] == part
        guard isEcho || !comparesEcho else {
            return try fail(
                .misbehaving(.prepareWriteRequest, .wrongEcho(write.handle, offset: Int(self.offset))))
        }
        count += part.count
        if count == write.value.count { (index, count) = (index + 1, 0) }
    }

    /// The offset of the next part, which fits 16 bits because of `checkLengths`.
    private var offset: UInt16 { UInt16(clamping: Int(writes[index].start) + count) }

    private func checkLengths() throws(GATTClientError) {
        for write in writes {
            let end = Int(write.start) + write.value.count
            guard end <= ATTLimits.valueLength else {
                throw .limit(.valueLength, maximum: ATTLimits.valueLength, value: end)
            }
        }
    }

    /// Fails with `error`, at once or after the queue is emptied.
    private mutating func fail(_ error: GATTClientError) throws(GATTClientError) {
        guard mayBeQueued else { throw error }
        phase = .cancelling(error)
    }
}
