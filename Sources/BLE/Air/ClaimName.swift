import BLECore
import HCI

/// The air's own command, by which a host asks for the static random address of a name.
struct ClaimName {
    static let opcode = HCIOpcode(ogf: 0x3f, ocf: 0x001)

    /// What the air answers.
    struct ReturnParameters: PacketDecodable {
        static let packetName = "Claim Name"

        /// The name's address.
        let address: DeviceAddress
        /// The process that has the name, when it is taken.
        let holder: UInt32

        init(decoding reader: inout ByteReader) throws(DecodeError) {
            address = DeviceAddress(try reader.u48("address"), type: .random)
            holder = try reader.u32("process")
        }
    }

    let packet: HCICommandPacket

    /// Asks for `name`; an empty one for an address that nobody had before.
    init(_ name: String) {
        packet = HCICommandPacket(opcode: Self.opcode, parameters: Array(name.utf8.prefix(200)))
    }
}
