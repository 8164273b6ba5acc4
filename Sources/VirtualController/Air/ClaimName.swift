import BLECore
import HCI

/// A vendor-specific command of the virtual air, opcode 0xfc01, which returns a random static address that
/// the host can use. A name has the same address on every run, and belongs to one controller at a time. An
/// empty name returns a new random address.
///
/// The air answers with Command Complete, with status 0x0c if another controller has the name, or 0x12 if the
/// name is not valid UTF-8 or is longer than 200 octets. The command does not set the address; LE Set Random
/// Address does. A controller keeps its name until it leaves the air or another claim succeeds, even across
/// a reset.
package struct ClaimName: Hashable, Sendable {
    /// The opcode 0xfc01, in the vendor-specific group 0x3f.
    package static let opcode = HCIOpcode(ogf: 0x3f, ocf: 0x001)
    /// The maximum length of a name, in octets.
    package static let maximumLength = 200

    package let name: String

    /// Creates a claim for `name`, or for a new address if `name` is empty. Returns nil if the name is too
    /// long.
    package init?(_ name: String) {
        guard name.utf8.count <= Self.maximumLength else { return nil }
        self.name = name
    }

    /// The HCI command, whose only parameter is the name in UTF-8.
    package var packet: HCICommandPacket {
        HCICommandPacket(opcode: Self.opcode, parameters: Array(name.utf8))
    }

    /// The return parameters of the command, including the status.
    package struct Answer: PacketCodable, Hashable {
        package static let packetName = "Claim Name return parameters"

        /// Success, Command Disallowed (0x0c) for a name in use, or Invalid HCI Command Parameters (0x12).
        package var status: HCIStatus
        /// The random static address; zeros after a failure.
        package var address: DeviceAddress
        /// The process that holds the name, if the name is in use and the process is known; otherwise 0.
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
    /// Returns the random static address of a name on the virtual air. Its 46 free bits are the low bits of
    /// the 64-bit FNV-1a hash of the name's UTF-8, so a name has the same address on every run and on every
    /// machine.
    package static func randomStatic(named name: some Sequence<UInt8>) -> DeviceAddress {
        randomStatic(name.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 })
    }
}
