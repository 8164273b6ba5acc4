import ATT
import BLECore
import GATT
import GATTClient
import HCISocket

/// How a value is written, in Core Bluetooth's words.
public enum WriteType: Hashable, Sendable, CaseIterable {
    /// By a request, which the device answers.
    case withResponse
    /// By a command, which has no response.
    case withoutResponse
}

extension Peripheral {
    /// Writes a value in one way or the other, as `write(_:to:)` and `writeWithoutResponse(_:to:)` do.
    public func write(
        _ value: [UInt8], to attribute: some AttributeReference, type: WriteType
    ) async throws(BLEError) {
        switch type {
        case .withResponse: try await write(value, to: attribute)
        case .withoutResponse: try await writeWithoutResponse(value, to: attribute)
        }
    }

    /// The longest value that can be written so, in octets: with a response 512, since what does not fit one packet
    /// goes in parts and takes effect as a whole; without one the MTU less 3.
    public func maximumWriteLength(for type: WriteType) async throws(BLEError) -> Int {
        switch type {
        case .withResponse: ATTLimits.valueLength
        case .withoutResponse: try await maximumWriteLength
        }
    }

    /// Whether the link takes a write without response now: fewer than 64 of them, and of notifications, wait for the
    /// radio, and none waits for that. False as well when the link has ended.
    public var canSendWriteWithoutResponse: Bool {
        get async { await adapter.canPush(on: link) }
    }

    /// Waits until the link takes a write without response; for who has several links to serve, since
    /// `writeWithoutResponse(_:to:)` waits by itself.
    public func readyToSendWriteWithoutResponse() async throws(BLEError) {
        try await adapter.untilCanPush(on: link)
    }

    /// Sends a value without an answer if the link takes it now; false when it does not, and nothing was sent. At most
    /// `maximumWriteLength` octets.
    public func tryWriteWithoutResponse(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) -> Bool {
        let checked = CheckedHandle(attribute)
        return try await adapter.tryCommand(.write(checked.handle, value: value), about: [checked], on: link)
    }

    /// Waits until every write without response that the link has taken has left this host. On adapters that are ours
    /// alone that is when the controller has reported it as completed, which the device's controller has acknowledged;
    /// on kernel adapters, when the kernel has given it to the controller.
    ///
    /// `disconnect` and the end of `withConnection` wait for this, too.
    ///
    /// - Throws: `BLEError.unsent` with the number of packets that are left when the link has taken none for 2 s, or not
    ///   all within 10 s; also when it ended before they had left. What the kernel held of a link that was lost is not
    ///   known, and not counted.
    public func waitUntilSent() async throws(BLEError) { try await adapter.waitUntilSent(on: link) }

    /// How strong the device's packets arrive, in dBm, -127 to 20; nil when the controller does not know (127).
    public func readRSSI() async throws(BLEError) -> Int? { try await connection.rssi() }
}

extension Adapter {
    fileprivate func waitUntilSent(on id: LinkID) async throws(BLEError) {
        if try await untilSent(on: id) { return }
        guard let left = links[id].map({ unsent(on: $0) }) ?? clients.unsent(on: id) else {
            throw end ?? .disconnected(.unknown)
        }
        if left > 0 { throw .unsent(left) }
    }

    fileprivate func canPush(on id: LinkID) -> Bool { links[id]?.gatt.canSend ?? false }

    fileprivate func untilCanPush(on id: LinkID) async throws(BLEError) {
        try await perform(on: id) { $0.gatt.waitForRoom() }
    }

    fileprivate func tryCommand(
        _ command: ATTCommand, about handles: [CheckedHandle], on id: LinkID
    ) async throws(BLEError) -> Bool {
        try await locate(handles, on: id)
        let link = try linkThatTakes(id)
        do throws(GATTFailure) {
            try link.gatt.session.check(handles)
            guard try link.gatt.trySend(command, about: handles) else { return false }
        } catch {
            throw BLEError(error)
        }
        pump(link)
        return true
    }
}
