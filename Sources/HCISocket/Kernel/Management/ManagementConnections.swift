import BLECore

extension Management {
    /// What Get Connections answers: the devices that there are links to.
    public struct Connections: Hashable, Sendable, PacketDecodable {
        /// For errors.
        public static let packetName = "Get Connections"

        /// How many there are, those of BR/EDR too.
        public var count: Int
        /// The devices of LE.
        public var peers: [DeviceAddress]

        /// Reads the list.
        public init(decoding reader: inout ByteReader) throws(DecodeError) {
            peers = []
            count = Int(try reader.u16("count"))
            for _ in 0..<count {
                if let peer = try reader.peer() { peers.append(peer) }
            }
        }
    }
}
