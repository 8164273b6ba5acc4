import BLECore

/// A command: opcode, length, parameters (Core Specification 5.4, Vol 4, Part E, 5.4.1).
package struct HCICommandPacket: Hashable, Sendable {
    package let opcode: HCIOpcode
    /// The parameters of the command, at most 255 octets.
    package let parameters: [UInt8]

    /// Creates a command with these parameters. More than 255 octets is a programming error.
    package init(opcode: HCIOpcode, parameters: [UInt8] = []) {
        precondition(parameters.count <= 255, "a command takes at most 255 octets of parameters")
        self.opcode = opcode
        self.parameters = parameters
    }
}

extension HCICommandPacket {
    /// Returns whether the command concerns this connection. Recognizes only commands that begin with a
    /// connection handle and that this library's host sends.
    package func concerns(_ connection: ConnectionHandle) -> Bool {
        let opcodes: [HCIOpcode] = [
            .disconnect, .readRemoteVersionInformation, .readTransmitPowerLevel, .readRSSI,
            .leConnectionUpdate, .leReadChannelMap, .leReadRemoteFeatures, .leEnableEncryption,
            .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply,
            .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply,
            .leSetDataLength, .leReadPHY, .leSetPHY, .leEnhancedReadTransmitPowerLevel,
            .leReadRemoteTransmitPowerLevel,
        ]
        guard parameters.count >= 2, opcodes.contains(opcode) else { return false }
        return UInt16(parameters[0]) | UInt16(parameters[1]) << 8 == connection.rawValue
    }
}

extension HCICommandPacket: PacketCodable {
    package static let packetName = "HCI command"

    /// Reads the header and as many octets as its length field states.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        opcode = HCIOpcode(rawValue: try reader.u16("Opcode"))
        parameters = try reader.bytes(Int(try reader.u8("Parameter_Total_Length")), "Parameters")
    }

    /// The encoded size in octets: the 3 octets of the header and the parameters.
    package var encodedCount: Int { 3 + parameters.count }

    /// Writes the header and the parameters.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u16(opcode.rawValue)
        output.u8(UInt8(clamping: parameters.count))
        output.bytes(parameters)
    }
}
