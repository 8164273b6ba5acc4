import BLECore
import HCI

extension DecodedLayer {
    /// An HCI packet with the octet of its type.
    package static func hci(_ bytes: [UInt8]) -> (layer: DecodedLayer, packet: HCIPacket?) {
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
        switch packet {
        case .acl, .synchronous, .iso:
            return DecodedLayer(.hci, name: name(of: packet.type), bytes: bytes, .packet(packet))
        case .command(let command):
            let name = command.opcode.description
            return decoded(name, bytes) { () throws(DecodeError) in
                try command.decoded().map { .command($0) } ?? .packet(packet)
            }
        case .event(let event):
            var name = event.code.description
            if event.code == .leMeta, let subevent = event.parameters.first {
                name = LESubevent(rawValue: subevent).description
            }
            return decoded(name, bytes) { () throws(DecodeError) in
                let decoded = try HCIEvent(event)
                return switch decoded {
                case .unknown, .leMeta(.unknown): .packet(packet)
                case .commandComplete(let complete): .event(decoded, returned: try complete.returned())
                default: .event(decoded, returned: nil)
                }
            }
        }
    }

    private static func decoded(
        _ name: String, _ bytes: [UInt8], _ body: () throws(DecodeError) -> Content
    ) -> DecodedLayer {
        do throws(DecodeError) {
            return DecodedLayer(.hci, name: name, bytes: bytes, try body())
        } catch {
            return DecodedLayer(.hci, name: name, undecoded: bytes, error)
        }
    }
}

extension DecodedFields {
    /// Data, or a command or event by the octets of its parameters.
    init(_ packet: HCIPacket) {
        self =
            switch packet {
            case .acl(let data):
                [
                    "connection": .number(Int(data.handle.rawValue)), "boundary": .text("\(data.boundary)"),
                    "octets": .number(data.data.count),
                ]
            case .synchronous(let data):
                ["connection": .number(Int(data.handle.rawValue)), "data": .octets(data.data)]
            case .iso(let data):
                ["connection": .number(Int(data.handle.rawValue)), "data": .octets(data.data)]
            case .command(let command): ["parameters": .octets(command.parameters)]
            case .event(let event): ["parameters": .octets(event.parameters)]
            }
    }

    /// An event, and what a command returned in it.
    init(_ event: HCIEvent, returned: (any HCIParameters)?) {
        switch event {
        case .leMeta(.advertisingReports(let event)): self.init(event)
        case .leMeta(.extendedAdvertisingReports(let event)): self.init(event)
        case .leMeta(let event): self.init(reflecting: event.parameters)
        // There is one for nearly every packet of data, and reflection would take its time.
        case .numberOfCompletedPackets(let event):
            let completed = event.completed.map { entry in
                FieldValue.fields([
                    "connection": .number(Int(entry.connection.rawValue)),
                    "count": .number(Int(entry.count)),
                ])
            }
            self = ["completed": .list(completed)]
        case .commandComplete(let event):
            self = ["credits": .number(Int(event.credits)), "opcode": .name(event.opcode)]
            if let status = event.status { append("status", .name(status)) }
            if let returned {
                append(DecodedFields(reflecting: returned))
            } else if event.returnParameters.count > 1 {
                append("parameters", .octets(event.returnParameters.dropFirst()))
            }
        default: self.init(reflecting: event.parameters)
        }
    }
}
