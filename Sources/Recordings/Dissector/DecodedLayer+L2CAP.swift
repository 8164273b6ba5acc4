import ATT
import BLECore
import HCI
import SMP

extension DecodedLayer {
    /// A whole L2CAP frame, and what is in it: on the channels of ATT, SMP and LE signaling one more layer.
    package static func l2cap(_ bytes: [UInt8]) -> [DecodedLayer] {
        do throws(DecodeError) {
            return frame(try L2CAPFrame(bytes), bytes)
        } catch {
            return [DecodedLayer(.l2cap, name: "L2CAP frame", undecoded: bytes, error)]
        }
    }

    static func frame(_ frame: L2CAPFrame, _ bytes: [UInt8]) -> [DecodedLayer] {
        let layer = DecodedLayer(.l2cap, name: "L2CAP frame", bytes: bytes, .frame(frame))
        switch frame.channel {
        case .att: return [layer, att(frame.payload)]
        case .securityManager: return [layer, smp(frame.payload)]
        case .leSignaling: return [layer, signaling(frame.payload)]
        default: return [layer]
        }
    }

    /// Decodes an ATT PDU. When that fails, the layer has a `problem`.
    package static func att(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { ATTOpcode($0).description } ?? "empty PDU"
        return decoded(.att, name, bytes) { () throws(DecodeError) in .att(try ATTPDU(bytes), of: nil) }
    }

    /// Decodes an SMP packet. When that fails, the layer has a `problem`.
    package static func smp(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { SMPCode(rawValue: $0).description } ?? "empty packet"
        return decoded(.smp, name, bytes) { () throws(DecodeError) in .smp(try SMPCommand(bytes)) }
    }

    /// A packet of the LE signaling channel.
    package static func signaling(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { LESignalingCode(rawValue: $0).description } ?? "empty packet"
        return decoded(.signaling, name, bytes) { () throws(DecodeError) in
            let packet = try LESignalingPDU(bytes)
            return .signaling(packet, try packet.message())
        }
    }

    private static func decoded(
        _ layer: Layer, _ name: String, _ bytes: [UInt8], _ body: () throws(DecodeError) -> Content
    ) -> DecodedLayer {
        do throws(DecodeError) {
            return DecodedLayer(layer, name: name, bytes: bytes, try body())
        } catch {
            return DecodedLayer(layer, name: name, undecoded: bytes, error)
        }
    }
}

extension DecodedFields {
    /// A packet of the signaling channel, and the message in it where that is known.
    init(_ packet: LESignalingPDU, _ message: (any LESignalingMessage)?) {
        self = ["identifier": .number(Int(packet.identifier))]
        if let message {
            append(DecodedFields(reflecting: message))
        } else {
            append("data", .octets(packet.data))
        }
    }
}
