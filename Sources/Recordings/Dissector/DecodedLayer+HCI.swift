import BLECore
import HCI

extension DecodedLayer {
    /// An HCI packet with the octet of its type.
    public static func hci(_ bytes: [UInt8]) -> (layer: DecodedLayer, packet: HCIPacket?) {
        do throws(DecodeError) {
            let packet = try HCIPacket(bytes)
            return (hci(packet, bytes), packet)
        } catch {
            let type = bytes.first.map(HCIPacketType.init(rawValue:))
            return (DecodedLayer(.hci, name: name(of: type), undecoded: bytes, error), nil)
        }
    }

    private static func name(of type: HCIPacketType?) -> String {
        switch type {
        case .command?: "HCI Command"
        case .acl?: "ACL Data"
        case .synchronous?: "Synchronous Data"
        case .event?: "HCI Event"
        case .iso?: "ISO Data"
        case let other?: "packet type 0x" + other.rawValue.hex
        case nil: "no packet"
        }
    }

    private static func hci(_ packet: HCIPacket, _ bytes: [UInt8]) -> DecodedLayer {
        var layer = DecodedLayer(.hci, name: name(of: packet.type), bytes: bytes, message: packet)
        switch packet {
        case .acl(let data):
            layer.fields = [
                "connection": .number(Int(data.handle.rawValue)), "boundary": .text("\(data.boundary)"),
                "octets": .number(data.data.count),
            ]
        case .synchronous(let data):
            layer.fields = ["connection": .number(Int(data.handle.rawValue)), "data": .octets(data.data)]
        case .iso(let data):
            layer.fields = ["connection": .number(Int(data.handle.rawValue)), "data": .octets(data.data)]
        case .command(let command):
            layer.name = command.opcode.description
            layer.decode(command.parameters) { () throws(DecodeError) in
                guard let decoded = try command.decoded() else { return nil }
                return (DecodedFields(reflecting: decoded), .command(decoded.packet))
            }
        case .event(let event):
            layer.name = event.code.description
            if event.code == .leMeta, let subevent = event.parameters.first {
                layer.name = LESubevent(rawValue: subevent).description
            }
            layer.decode(event.parameters) { () throws(DecodeError) in
                let decoded = try HCIEvent(event)
                return try fields(decoded).map { ($0, .event(decoded.packet)) }
            }
        }
        return layer
    }

    /// Sets fields and message to what `body` makes of the parameters; to the octets where it makes nothing.
    private mutating func decode(
        _ parameters: [UInt8], _ body: () throws(DecodeError) -> (fields: DecodedFields, packet: HCIPacket)?
    ) {
        fields = ["parameters": .octets(parameters)]
        do throws(DecodeError) {
            if let decoded = try body() { (fields, message) = (decoded.fields, decoded.packet) }
        } catch {
            (message, problem) = (nil, error.description)
        }
    }

    /// nil for events that have no type.
    private static func fields(_ event: HCIEvent) throws(DecodeError) -> DecodedFields? {
        switch event {
        case .unknown, .leMeta(.unknown): return nil
        case .leMeta(let event): return DecodedFields(reflecting: event.parameters)
        case .commandComplete(let event):
            var fields: DecodedFields = [
                "credits": .number(Int(event.credits)), "opcode": .name(event.opcode),
            ]
            if let status = event.status { fields.append("status", .name(status)) }
            if let returned = try event.returned() {
                fields.append(DecodedFields(reflecting: returned))
            } else if event.returnParameters.count > 1 {
                fields.append("parameters", .octets(event.returnParameters.dropFirst()))
            }
            return fields
        default: return DecodedFields(reflecting: event.parameters)
        }
    }
}
