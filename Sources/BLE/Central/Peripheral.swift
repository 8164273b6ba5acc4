import ATT
import BLECore
import GATTClient
import HCISocket

/// A remote device that this host is connected to, and its GATT server.
public struct Peripheral: Sendable {
    /// The device.
    public let address: DeviceAddress
    private let adapter: Adapter
    private let link: LinkID

    init(_ adapter: Adapter, _ link: LinkID, _ address: DeviceAddress) {
        self.adapter = adapter
        self.link = link
        self.address = address
    }

    /// The largest ATT packet on this link, in octets.
    public var mtu: Int {
        get async throws(BLEError) { try await adapter.mtu(of: link) }
    }

    /// The longest value that fits one Write Request or Write Command, in octets: the MTU less 3.
    public var maximumWriteLength: Int {
        get async throws(BLEError) { try await mtu - 3 }
    }

    /// Disconnects. Does nothing when the link is gone.
    public func disconnect() async { await adapter.disconnect(link) }

    /// Waits for the link to end; returns why.
    public func disconnection() async throws(BLEError) -> DisconnectReason {
        try await adapter.disconnection(of: link)
    }

    /// The whole database of the device: services, included services, characteristics, descriptors.
    public func discover() async throws(BLEError) -> RemoteDatabase {
        try await adapter.run(DiscoverDatabase(), on: link)
    }

    /// A value, however long it is.
    public func read(_ handle: AttributeHandle) async throws(BLEError) -> [UInt8] {
        try await adapter.run(ReadLongValue(handle), on: link)
    }

    /// A value from `offset` octets on.
    public func read(_ handle: AttributeHandle, from offset: Int) async throws(BLEError) -> [UInt8] {
        try await adapter.run(ReadLongValue(handle, from: offset), on: link)
    }

    /// Several values in one request: each by itself where the server has Read Multiple Variable, else all in
    /// a row, since Read Multiple does not tell where one ends.
    public func read(_ handles: [AttributeHandle]) async throws(BLEError) -> ReadTogether {
        do throws(BLEError) {
            return .separate(try await adapter.run(ReadMultipleVariable(handles), on: link))
        } catch .att(let response) where response.code == .requestNotSupported {
            return .joined(try await adapter.run(ReadMultiple(handles), on: link))
        }
    }

    /// Writes a value and waits for the answer. A value that does not fit one packet is written in parts,
    /// and takes effect as a whole.
    public func write(_ value: [UInt8], to handle: AttributeHandle) async throws(BLEError) {
        let limit = try await maximumWriteLength
        if value.count <= limit {
            try await adapter.run(WriteValue(handle, value), on: link)
        } else {
            try await adapter.run(WriteLongValue(handle, value), on: link)
        }
    }

    /// Writes a value in parts of which the device repeats each, so that both know it came whole.
    public func writeReliably(_ value: [UInt8], to handle: AttributeHandle) async throws(BLEError) {
        try await adapter.run(ReliableWrite([(handle, value)]), on: link)
    }

    /// Sends a value without an answer. Waits until the link takes it.
    public func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) async throws(BLEError) {
        try await adapter.command(.write(handle, value: value), on: link)
    }

    /// The values that a characteristic notifies or indicates. The stream owns the subscription: it begins
    /// before this returns, and ends with the stream.
    public func values(
        of characteristic: RemoteCharacteristic, indications: Bool = false,
        buffer: BufferPolicy = .overflow(limit: 1024)
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        try await adapter.subscribe(to: characteristic, indications: indications, buffer, on: link)
    }
}

/// What several values read in one request came as.
public enum ReadTogether: Hashable, Sendable {
    /// Each by itself.
    case separate([RemoteValue])
    /// All in a row.
    case joined([UInt8])
}

/// A value that the peer sent by itself.
public struct ReceivedValue: Hashable, Sendable {
    /// The characteristic's value handle.
    public var handle: AttributeHandle
    /// The value.
    public var value: [UInt8]
    /// Whether the peer was told that it came.
    public var isIndication: Bool
    /// When it came, by the loop's clock.
    public var received: Instant
}
