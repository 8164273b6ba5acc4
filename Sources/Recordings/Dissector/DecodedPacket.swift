import BLECore
import HCI

/// A packet of a recording, layer by layer.
public struct DecodedPacket: Sendable {
    /// Its number in the recording, from 1 on.
    public var frame: Int
    /// When it was recorded.
    public var time: RecordingTime
    /// The index of the adapter.
    public var adapter: UInt16
    /// Which way it went; nil for what is no packet.
    public var direction: Record.Direction?
    /// The connection that it belongs to, for data and for events about a connection.
    public var connection: ConnectionHandle?
    /// The other side of that connection, where the recording has its beginning.
    public var peer: DeviceAddress?
    /// The attribute that an ATT PDU is about: itself, or the request that it answers.
    public var attribute: DecodedAttribute?
    /// What this packet answers.
    public var request: AnsweredRequest?
    /// The record itself.
    public var outer: DecodedLayer
    /// The whole frame that this packet completes, and what is in it; none for data that only begins or
    /// continues a frame, and for what is no data.
    public var inner: [DecodedLayer] = []

    /// All layers, the outermost first.
    public var layers: [DecodedLayer] { [outer] + inner }

    /// What the packet is about: the innermost layer.
    public var top: DecodedLayer { inner.last ?? outer }
}

/// A request that a packet answers.
public struct AnsweredRequest: Hashable, Sendable {
    /// Its number in the recording.
    public var frame: Int
    /// Microseconds from the request to the answer; negative where the recording's clock was set back.
    public var latency: Int64
    /// What it was called.
    public var name: String

    /// That request.
    public init(frame: Int, latency: Int64, name: String) {
        (self.frame, self.latency, self.name) = (frame, latency, name)
    }
}

/// An attribute of a recorded server, as far as discovery in the same recording told.
public struct DecodedAttribute: Hashable, Sendable {
    /// Its number.
    public var handle: AttributeHandle
    /// Its type.
    public var uuid: BluetoothUUID?
    /// The characteristic that it is a descriptor of.
    public var characteristic: BluetoothUUID?
    /// The service that it belongs to.
    public var service: BluetoothUUID?

    /// An attribute of which that much is known.
    public init(
        handle: AttributeHandle, uuid: BluetoothUUID? = nil, characteristic: BluetoothUUID? = nil,
        service: BluetoothUUID? = nil
    ) {
        (self.handle, self.uuid) = (handle, uuid)
        (self.characteristic, self.service) = (characteristic, service)
    }
}
