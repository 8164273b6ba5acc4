import ATT
import BLEAdvertising
import BLECore
import HCI
import SMP

/// One layer of a packet. What it says is made of its message when it is asked for.
package struct DecodedLayer: Sendable {
    /// The protocols that have names here.
    package enum Layer: String, Hashable, Sendable, CaseIterable {
        /// Between host and controller.
        case hci
        /// A frame on one of a connection's channels.
        case l2cap
        /// L2CAP's own messages on LE.
        case signaling
        case att
        case smp
        /// Advertising data, with its AD structures.
        case adv
        /// What a monitor reports beside packets.
        case monitor
        /// The kernel's management interface, which monitors record, too.
        case mgmt
    }

    /// What the octets are.
    enum Content: Sendable {
        /// Octets that could not be decoded.
        case octets
        /// Data, or a command or event without a type of its own.
        case packet(HCIPacket)
        case command(any HCICommand)
        case event(HCIEvent, returned: (any HCIParameters)?)
        case frame(L2CAPFrame)
        /// With the type of the attributes that a Read By Type Request asked for.
        case att(ATTPDU, of: BluetoothUUID?)
        case smp(SMPCommand)
        case signaling(LESignalingPDU, (any LESignalingMessage)?)
        case advertising(AdvertisingData)
        case note(MonitorNote)
    }

    package var layer: Layer
    /// What the specification calls the message; its number where it has no name.
    package var name: String
    package var bytes: [UInt8]
    /// What is wrong with it.
    package var problem: String?
    var content: Content

    init(_ layer: Layer, name: String, bytes: [UInt8], _ content: Content, problem: String? = nil) {
        (self.layer, self.name, self.bytes) = (layer, name, bytes)
        (self.content, self.problem) = (content, problem)
    }

    /// Octets that could not be decoded.
    init(_ layer: Layer, name: String, undecoded bytes: [UInt8], _ error: DecodeError) {
        self.init(layer, name: name, bytes: bytes, .octets, problem: error.description)
    }
}

extension DecodedLayer {
    /// The fields of the message, decoded anew with each access.
    package var fields: DecodedFields {
        switch content {
        case .octets: hciParameters
        case .packet(let packet): DecodedFields(packet)
        case .command(let command): DecodedFields(reflecting: command)
        case .event(let event, let returned): DecodedFields(event, returned: returned)
        case .frame(let frame):
            ["channel": .name(frame.channel), "octets": .number(frame.payload.count)]
        case .att(let pdu, let type): pdu.fields(of: type)
        case .smp(let command): command.fields
        case .signaling(let packet, let message): DecodedFields(packet, message)
        case .advertising(let data): DecodedFields(data)
        case .note(let note): note.fields
        }
    }

    /// The decoded message, which encodes as `bytes` again, but for the reserved bits of HCI's connection
    /// handles; nil when they are not one.
    package var message: (any PacketEncodable)? {
        guard problem == nil else { return nil }
        return switch content {
        case .octets, .note, .advertising: nil
        case .packet(let packet): packet
        case .command(let command): HCIPacket.command(command.packet)
        case .event(let event, _): HCIPacket.event(event.packet)
        case .frame(let frame): frame
        case .att(let pdu, _): pdu
        case .smp(let command): command
        case .signaling(let packet, _): packet
        }
    }

    /// The HCI event that it is.
    package var event: HCIEvent? { if case .event(let event, _) = content { event } else { nil } }

    /// The ATT PDU that it is.
    package var att: ATTPDU? { if case .att(let pdu, _) = content { pdu } else { nil } }

    /// The SMP packet that it is.
    package var smp: SMPCommand? { if case .smp(let command) = content { command } else { nil } }

    /// Parameters that could not be decoded, of a command or event that has its header.
    private var hciParameters: DecodedFields {
        guard layer == .hci, let packet = try? HCIPacket(bytes) else { return [:] }
        return DecodedFields(packet)
    }
}
