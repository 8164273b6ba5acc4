import BLECore

extension Management {
    /// What Get Connections answers: the devices that there are links to.
    package struct Connections: Hashable, Sendable, PacketDecodable {
        package static let packetName = "Get Connections"

        /// How many there are, those of BR/EDR too.
        package var count: Int
        /// The devices with an LE link.
        package var peers: [DeviceAddress]

        /// Reads the list, and keeps the LE devices of it.
        package init(decoding reader: inout ByteReader) throws(DecodeError) {
            peers = []
            count = Int(try reader.u16("count"))
            for _ in 0..<count {
                if let peer = try reader.peer() { peers.append(peer) }
            }
        }
    }
}
