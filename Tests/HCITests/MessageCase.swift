import BLECore
import HCI
import Testing

/// One message of a table: the bytes of a whole packet, and the message that they encode.
struct MessageCase: Sendable, CustomTestStringConvertible {
    /// The type of a message.
    enum Subject: Hashable {
        case command(HCIOpcode)
        /// The return parameters of the command with the opcode.
        case returned(HCIOpcode)
        case event(HCIEventCode)
        case lowEnergy(LESubevent)

        init(_ event: HCIEvent) {
            self =
                if case .leMeta(let event) = event { .lowEnergy(event.subevent) } else { .event(event.code) }
        }
    }

    let testDescription: String
    let subject: Subject
    let check: @Sendable () throws -> Void

    /// Creates a case from the bytes of a command packet.
    init<Command: HCICommand>(
        _ hex: String, _ command: Command, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        self.init(hex, Command.packetName, .command(Command.opcode)) { bytes in
            PacketCase(Array(bytes.dropFirst(3)), command).check(sourceLocation: sourceLocation)
            #expect(command.packet.encoded.hex == bytes.hex, sourceLocation: sourceLocation)
            let decoded = try HCICommandPacket(bytes).decoded()
            #expect(decoded?.packet == command.packet, sourceLocation: sourceLocation)
        }
    }

    /// Creates a case from the bytes of the return parameters after the status.
    init<Command: HCICommand>(
        _ hex: String, by command: Command.Type, _ returned: Command.ReturnParameters,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        self.init(hex, "\(command.packetName) returns", .returned(Command.opcode)) { bytes in
            PacketCase(bytes, returned).check(sourceLocation: sourceLocation)
            let event = CommandComplete(command, returning: returned)
            #expect(event.returnParameters == [0] + bytes, sourceLocation: sourceLocation)
            let decoded = try event.returned(by: command)
            #expect(decoded == returned, sourceLocation: sourceLocation)
            let found = try event.returned()
            #expect(found?.encoded == bytes, sourceLocation: sourceLocation)
        }
    }

    /// Creates a case from the bytes of an event packet. Shorter and longer parameters must fail to decode.
    init(_ hex: String, _ event: HCIEvent, sourceLocation: SourceLocation = #_sourceLocation) {
        self.init(hex, event.code.description, Subject(event)) { bytes in
            PacketCase(bytes, event).check(sourceLocation: sourceLocation)
            #expect(event.packet.encoded == bytes, sourceLocation: sourceLocation)
            let parameters = Array(bytes.dropFirst(2))
            for other in parameters.indices.map({ Array(parameters.prefix($0)) }) + [parameters + [0]] {
                let packet = HCIEventPacket(code: event.code, parameters: other)
                #expect(throws: DecodeError.self, "\(other.hex)", sourceLocation: sourceLocation) {
                    try HCIEvent(packet)
                }
            }
        }
    }

    /// Creates a case from the bytes of an event packet whose last field contains all remaining octets.
    static func openEnded(
        _ hex: String, _ event: HCIEvent, sourceLocation: SourceLocation = #_sourceLocation
    ) -> MessageCase {
        MessageCase(hex, event.code.description, Subject(event)) { bytes in
            PacketCase(bytes, event).check(sourceLocation: sourceLocation)
            #expect(event.packet.encoded == bytes, sourceLocation: sourceLocation)
        }
    }

    /// Creates a case from the bytes of an LE Meta event packet.
    init(_ hex: String, _ event: LEMetaEvent, sourceLocation: SourceLocation = #_sourceLocation) {
        self.init(hex, .leMeta(event), sourceLocation: sourceLocation)
    }

    private init(
        _ hex: String, _ name: String, _ subject: Subject,
        _ check: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        testDescription = "\(name) \(hex)"
        self.subject = subject
        self.check = { try check([UInt8](spelled: hex)) }
    }
}

extension FixedOctets {
    /// The octets 0, 1, 2 and so on.
    static var counting: Self {
        var octets = Self()
        for index in 0..<width { octets[index] = UInt8(index) }
        return octets
    }
}

/// Values that the tables use repeatedly.
let link = ConnectionHandle(0x0040)
let peer = HCIAddress(0xc0ff_ee01_0203, type: .random)
let peerBytes = "01 030201eeffc0"
let key: UInt128 = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100
let keyBytes = "000102030405060708090a0b0c0d0e0f"
