import BLECore

/// A packet of a recording, layer by layer.
public struct DecodedPacket: Sendable {
    /// When it was recorded.
    public var time: RecordingTime
    /// The index of the adapter.
    public var adapter: UInt16
    /// Which way it went; nil for what is no packet.
    public var direction: Record.Direction?
    /// The connection that it belongs to, for data.
    public var connection: ConnectionHandle?
    /// The other side of that connection, where the recording has its beginning.
    public var peer: DeviceAddress?
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

/// One layer of a packet.
public struct DecodedLayer: Sendable {
    /// The protocols that have names here.
    public enum Layer: String, Hashable, Sendable {
        /// Between host and controller.
        case hci
        /// A frame on one of a connection's channels.
        case l2cap
        /// L2CAP's own messages on LE.
        case signalling
        /// The attribute protocol.
        case att
        /// The security manager protocol.
        case smp
        /// What a monitor tells beside packets.
        case monitor
    }

    /// The protocol.
    public var layer: Layer
    /// What the specification calls the message; its number where it has no name.
    public var name: String
    /// What it says.
    public var fields: DecodedFields
    /// Its octets.
    public var bytes: [UInt8]
    /// What is wrong with it.
    public var problem: String?
    /// The decoded message, which encodes as `bytes` again, but for the reserved bits of HCI's connection
    /// handles; nil when they are not one.
    public var message: (any PacketEncodable)?

    init(
        _ layer: Layer, name: String, fields: DecodedFields = [:], bytes: [UInt8], problem: String? = nil,
        message: (any PacketEncodable)? = nil
    ) {
        self.layer = layer
        self.name = name
        self.fields = fields
        self.bytes = bytes
        self.problem = problem
        self.message = message
    }

    /// Octets that could not be decoded.
    init(_ layer: Layer, name: String, undecoded bytes: [UInt8], _ error: DecodeError) {
        self.init(layer, name: name, bytes: bytes, problem: error.description)
    }
}
