import BLECore
import HCI

extension VirtualAir {
    /// Answers a Claim Name command; false when the packet is none.
    mutating func claim(_ packet: Span<UInt8>, for index: Int) -> Bool {
        guard packet.count >= 3, packet[0] == HCIPacketType.command.rawValue,
            case .command(let command)? = try? HCIPacket(packet), command.opcode == ClaimName.opcode
        else { return false }
        let answer = claim(command.parameters, for: index)
        seats[index].controller.complete(ClaimName.opcode, returning: answer.encoded)
        return true
    }

    private mutating func claim(_ name: [UInt8], for index: Int) -> ClaimName.Answer {
        guard name.count <= ClaimName.maximumLength, String(validating: name, as: UTF8.self) != nil else {
            return ClaimName.Answer(status: .invalidCommandParameters)
        }
        guard !name.isEmpty else {
            seats[index].name = nil
            return ClaimName.Answer(status: .success, address: .randomStatic(random.next()))
        }
        if let holder = seats.firstIndex(where: { $0.name == name }), holder != index {
            return ClaimName.Answer(status: .commandDisallowed, holder: seats[holder].processID ?? 0)
        }
        seats[index].name = name
        return ClaimName.Answer(status: .success, address: .randomStatic(named: name))
    }
}
