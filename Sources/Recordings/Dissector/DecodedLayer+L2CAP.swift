import ATT
import BLECore
import HCI
import SMP

extension DecodedLayer {
    /// A whole L2CAP frame, and what is in it: on the channels of ATT, SMP and LE signalling one more layer.
    public static func l2cap(_ bytes: [UInt8]) -> [DecodedLayer] {
        do throws(DecodeError) {
            return frame(try L2CAPFrame(bytes))
        } catch {
            return [DecodedLayer(.l2cap, name: "L2CAP frame", undecoded: bytes, error)]
        }
    }

    static func frame(_ frame: L2CAPFrame) -> [DecodedLayer] {
        let layer = DecodedLayer(
            .l2cap, name: "L2CAP frame",
            fields: ["channel": .name(frame.channel), "octets": .number(frame.payload.count)],
            bytes: frame.encoded, message: frame)
        switch frame.channel {
        case .att: return [layer, att(frame.payload)]
        case .securityManager: return [layer, smp(frame.payload)]
        case .leSignaling: return [layer, signalling(frame.payload)]
        default: return [layer]
        }
    }

    /// An ATT PDU.
    public static func att(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { ATTOpcode($0).description } ?? "empty PDU"
        return decoded(.att, name, bytes) { (pdu: ATTPDU) in pdu.fields }
    }

    /// An SMP packet.
    public static func smp(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { SMPCode(rawValue: $0).description } ?? "empty packet"
        return decoded(.smp, name, bytes) { (command: SMPCommand) in command.fields }
    }

    /// A packet of the LE signalling channel.
    public static func signalling(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { LESignalingCode(rawValue: $0).description } ?? "empty packet"
        return decoded(.signalling, name, bytes) { (packet: LESignalingPDU) throws(DecodeError) in
            var fields: DecodedFields = ["identifier": .number(Int(packet.identifier))]
            if let message = try packet.message() {
                fields.append(DecodedFields(reflecting: message))
            } else {
                fields.append("data", .octets(packet.data))
            }
            return fields
        }
    }

    private static func decoded<Message: PacketCodable>(
        _ layer: Layer, _ name: String, _ bytes: [UInt8],
        _ fields: (Message) throws(DecodeError) -> DecodedFields
    ) -> DecodedLayer {
        do throws(DecodeError) {
            let message = try Message(bytes)
            return DecodedLayer(
                layer, name: name, fields: try fields(message), bytes: bytes, message: message)
        } catch {
            return DecodedLayer(layer, name: name, undecoded: bytes, error)
        }
    }
}
