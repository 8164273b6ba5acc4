import BLECore
import HCI

/// A packet of a recording, layer by layer.
package struct DecodedPacket: Sendable {
    /// Its number in the recording, from 1 on.
    package var frame: Int
    /// When it was recorded.
    package var time: RecordingTime
    /// The index of the adapter.
    package var adapter: UInt16
    /// Which way it went; nil for what is no packet.
    package var direction: Record.Direction?
    /// The connection that it belongs to, for data and for events about a connection.
    package var connection: ConnectionHandle?
    /// The other side of that connection, where the recording has its beginning.
    package var peer: DeviceAddress?
    /// The attribute that an ATT PDU is about: itself, or the request that it answers.
    package var attribute: DecodedAttribute?
    /// What this packet answers.
    package var request: AnsweredRequest?
    /// The outermost layer, which is the whole record.
    package var outer: DecodedLayer
    /// The whole frame that this packet completes, and what is in it; none for data that only begins or
    /// continues a frame, and for what is no data.
    package var inner: [DecodedLayer] = []

    /// All layers, the outermost first.
    package var layers: [DecodedLayer] { [outer] + inner }

    /// What the packet is about: the innermost layer.
    package var top: DecodedLayer { inner.last ?? outer }
}

/// A request that a packet answers.
package struct AnsweredRequest: Hashable, Sendable {
    /// Its number in the recording.
    package var frame: Int
    /// Microseconds from the request to the answer; negative where the recording's clock was set back.
    package var latency: Int64
    /// What it was called.
    package var name: String

    package init(frame: Int, latency: Int64, name: String) {
        (self.frame, self.latency, self.name) = (frame, latency, name)
    }
}

/// An attribute of a recorded server, as far as discovery in the same recording reported it.
package struct DecodedAttribute: Hashable, Sendable {
    package var handle: AttributeHandle
    /// The type; nil where discovery has not reported it.
    package var uuid: BluetoothUUID?
    /// The characteristic that it is a descriptor of.
    package var characteristic: BluetoothUUID?
    /// The service that it belongs to.
    package var service: BluetoothUUID?

    /// An attribute of which that much is known.
    package init(
        handle: AttributeHandle, uuid: BluetoothUUID? = nil, characteristic: BluetoothUUID? = nil,
        service: BluetoothUUID? = nil
    ) {
        (self.handle, self.uuid) = (handle, uuid)
        (self.characteristic, self.service) = (characteristic, service)
    }
}
