import BLECore
import HCI

/// A message of a monitor other than a packet, in the kernel's format (include/net/bluetooth/hci_mon.h).
struct MonitorNote: Sendable {
    let fields: DecodedFields

    /// Reads a note; the content of an unknown type of note is kept as octets.
    init(_ opcode: MonitorOpcode, _ bytes: [UInt8]) throws(DecodeError) {
        var reader = ByteReader(bytes.span, of: opcode.description)
        switch opcode {
        case .newIndex:
            fields = [
                "type": .number(Int(try reader.u8("type"))), "bus": .number(Int(try reader.u8("bus"))),
                "address": .name(try reader.address()), "name": .text(try reader.text(8, "name")),
            ]
        case .indexInfo:
            fields = [
                "address": .name(try reader.address()),
                "manufacturer": .number(Int(try reader.u16("manufacturer"))),
            ]
        case .systemNote: fields = ["text": .text(try reader.text(reader.remaining, "text"))]
        case .userLogging:
            let priority = try reader.u8("priority")
            let length = Int(try reader.u8("ident length"))
            fields = [
                "priority": .number(Int(priority)), "program": .text(try reader.text(length, "ident")),
                "text": .text(try reader.text(reader.remaining, "text")),
            ]
        case .controlOpen:
            let socket = try reader.u32("cookie")
            let channel = try reader.u16("format")
            let (version, revision) = (try reader.u8("version"), try reader.u16("revision"))
            let flags = try reader.u32("flags")
            let length = Int(try reader.u8("name length"))
            fields = [
                "socket": .number(Int(socket)), "channel": .number(Int(channel)),
                "version": .text("\(version).\(revision)"),
                "flags": .described(.number(Int(flags)), as: "0x\(flags.hex)"),
                "program": .text(try reader.text(min(length, reader.remaining), "name")),
            ]
        case .controlClose: fields = ["socket": .number(Int(try reader.u32("cookie")))]
        case .controlCommand: fields = try Self.command(&reader)
        case .controlEvent: fields = try Self.event(&reader)
        case .openIndex, .closeIndex, .deleteIndex: fields = [:]
        default: fields = ["data": .octets(reader.rest())]
        }
    }

    private static func command(_ reader: inout ByteReader) throws(DecodeError) -> DecodedFields {
        let socket = try reader.u32("cookie")
        let opcode = try reader.u16("opcode")
        var fields: DecodedFields = ["socket": .number(Int(socket)), "opcode": .number(Int(opcode))]
        fields.append(try Self.known(ManagementForm.command(opcode), &reader))
        return fields
    }

    private static func event(_ reader: inout ByteReader) throws(DecodeError) -> DecodedFields {
        let socket = try reader.u32("cookie")
        let event = try reader.u16("event")
        var fields: DecodedFields = ["socket": .number(Int(socket)), "event": .number(Int(event))]
        guard event == 1 || event == 2 else {
            fields.append(try Self.known(ManagementForm.event(event), &reader))
            return fields
        }
        // Command Complete and Command Status contain the opcode of the command and its status.
        let opcode = try reader.u16("opcode")
        let command = ManagementForm.command(opcode)
        fields.append("command", .text(command?.name ?? "0x\(opcode.hex)"))
        fields.append("status", .name(ManagementStatus(rawValue: try reader.u8("status"))))
        if let command {
            fields.append(try command.returnedFields(&reader))
        } else if reader.remaining > 0 {
            fields.append("parameters", .octets(reader.rest()))
        }
        return fields
    }

    private static func known(
        _ form: ManagementForm?, _ reader: inout ByteReader
    ) throws(DecodeError) -> DecodedFields {
        try form?.fields(&reader) ?? ["parameters": .octets(reader.rest())]
    }
}

extension DecodedLayer {
    /// Decodes a message of a monitor other than a packet.
    static func note(_ opcode: MonitorOpcode, _ bytes: [UInt8]) -> DecodedLayer {
        let isManagement = [.controlOpen, .controlClose, .controlCommand, .controlEvent].contains(opcode)
        let layer: Layer = isManagement ? .mgmt : .monitor
        var name = opcode.description
        if bytes.count >= 6 {
            let number = UInt16(bytes[4]) | UInt16(bytes[5]) << 8
            if opcode == .controlCommand { name = ManagementForm.command(number)?.name ?? "0x\(number.hex)" }
            if opcode == .controlEvent { name = ManagementForm.event(number)?.name ?? "0x\(number.hex)" }
        }
        do throws(DecodeError) {
            return DecodedLayer(layer, name: name, bytes: bytes, .note(try MonitorNote(opcode, bytes)))
        } catch {
            return DecodedLayer(layer, name: name, undecoded: bytes, error)
        }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    fileprivate mutating func address() throws(DecodeError) -> DeviceAddress {
        DeviceAddress(try u48("address"), type: .public)
    }

    /// Reads `count` octets and returns the text in them up to the first zero.
    @_lifetime(self: copy self)
    fileprivate mutating func text(_ count: Int, _ field: String) throws(DecodeError) -> String {
        String(decoding: try bytes(count, field).prefix { $0 != 0 }, as: UTF8.self)
    }
}
