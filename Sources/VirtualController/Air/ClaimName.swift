import BLECore
import HCI

/// The virtual air's own command, opcode 0xfc01, by which a host learns a random static address that it can
/// use. A name has the same address on every run, and belongs to one controller at a time; an empty name
/// gives an address that was not in use before.
///
/// The air answers with Command Complete: 0x0c when another controller has the name, 0x12 when the name is
/// no UTF-8 or is longer than 200 octets. The command sets nothing: LE Set Random Address does. A controller
/// keeps its name until it leaves the air or claims another; a reset does not matter.
package struct ClaimName: Hashable, Sendable {
    /// The opcode 0xfc01, in the vendor-specific group 0x3f.
    package static let opcode = HCIOpcode(ogf: 0x3f, ocf: 0x001)
    /// The most octets of a name.
    package static let maximumLength = 200

    package let name: String

    /// A claim for `name`; an empty one for a new address. Nil when the name is too long.
    package init?(_ name: String) {
        guard name.utf8.count <= Self.maximumLength else { return nil }
        self.name = name
    }

    /// The command: the name's UTF-8 is all of its parameters.
    package var packet: HCICommandPacket {
        HCICommandPacket(opcode: Self.opcode, parameters: Array(name.utf8))
    }

    /// What the air returns, status included.
    package struct Answer: PacketCodable, Hashable {
        package static let packetName = "Claim Name return parameters"

        /// Success, Command Disallowed (0x0c) for a name in use, or Invalid HCI Command Parameters (0x12).
        package var status: HCIStatus
        /// The random static address; zeros after a failure.
        package var address: DeviceAddress
        /// The process that has the name, when it is in use and the process is known; else 0.
        package var holder: UInt32

        package init(
            status: HCIStatus, address: DeviceAddress = DeviceAddress(0, type: .random), holder: UInt32 = 0
        ) {
            (self.status, self.address, self.holder) = (status, address, holder)
        }

        package init(decoding reader: inout ByteReader) throws(DecodeError) {
            status = HCIStatus(rawValue: try reader.u8("status"))
            address = DeviceAddress(try reader.u48("address"), type: .random)
            holder = try reader.u32("holder's process")
        }

        package var encodedCount: Int { 11 }

        package func encode(into output: inout OutputSpan<UInt8>) {
            output.u8(status.rawValue)
            output.u48(address.value)
            output.u32(holder)
        }
    }
}

extension DeviceAddress {
    /// The random static address that belongs to a name on the virtual air: its 46 free bits are the low
    /// ones of the 64-bit FNV-1a hash of the name's UTF-8. So a name has the same address on every run and
    /// on every machine.
    package static func randomStatic(named name: some Sequence<UInt8>) -> DeviceAddress {
        randomStatic(name.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 })
    }
}
