import BLECore
import HCI

/// An event about a connection of BR/EDR, which recordings of phones contain beside those of LE (Core Specification
/// 5.4, Vol 4, Part E, 7.7.3 and 7.7.4).
struct ClassicEvent: Hashable, Sendable {
    let packet: HCIEventPacket
    /// Nil for a request.
    var status: HCIStatus?
    /// The handle of the connection; nil for a request.
    var connection: ConnectionHandle?
    var peer: DeviceAddress
    /// The class of the device that requests a connection.
    var deviceClass: UInt32?
    var linkType: UInt8
    /// Whether the link is encrypted; nil for a request.
    var isEncrypted: Bool?

    /// Creates the content of an event; nil if it is another one.
    init?(_ event: HCIEventPacket) throws(DecodeError) {
        packet = event
        var reader = ByteReader(event.parameters.span, of: event.code.description)
        switch event.code.rawValue {
        case 0x03:
            status = HCIStatus(rawValue: try reader.u8("Status"))
            connection = ConnectionHandle(try reader.u16("Connection_Handle") & 0x0fff)
            peer = try reader.publicAddress()
            linkType = try reader.u8("Link_Type")
            isEncrypted = try reader.u8("Encryption_Enabled") != 0
        case 0x04:
            peer = try reader.publicAddress()
            deviceClass =
                UInt32(try reader.u16("Class_Of_Device")) | UInt32(try reader.u8("Class_Of_Device")) << 16
            linkType = try reader.u8("Link_Type")
        default: return nil
        }
    }

    var fields: DecodedFields {
        var fields: DecodedFields = [:]
        if let status { fields.append("status", .name(status)) }
        if let connection { fields.append("connection", .number(Int(connection.rawValue))) }
        fields.append("peer", .name(peer))
        if let deviceClass { fields.append("deviceClass", .text("0x" + String(deviceClass.hex.suffix(6)))) }
        let kinds = ["SCO", "ACL", "eSCO"]
        let type = FieldValue.number(Int(linkType))
        fields.append(
            "linkType",
            kinds.indices.contains(Int(linkType)) ? .described(type, as: kinds[Int(linkType)]) : type)
        if let isEncrypted { fields.append("encrypted", .bool(isEncrypted)) }
        return fields
    }
}

extension ByteReader {
    /// Reads an address of BR/EDR, which is always public.
    @_lifetime(self: copy self)
    fileprivate mutating func publicAddress() throws(DecodeError) -> DeviceAddress {
        var value: UInt64 = 0
        for index in 0..<6 { value |= UInt64(try u8("BD_ADDR")) << UInt64(8 * index) }
        return DeviceAddress(value, type: .public)
    }
}
