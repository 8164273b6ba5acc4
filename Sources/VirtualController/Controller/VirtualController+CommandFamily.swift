import HCI

extension VirtualController {
    /// Returns whether the command belongs to no family or to the same family, legacy or extended, as the
    /// commands that the host has used. The first command of a family selects it, even if the command is then
    /// refused for another reason.
    mutating func admits(_ opcode: HCIOpcode) -> Bool {
        guard let family = CommandFamily(opcode) else { return true }
        settings.family = settings.family ?? family
        return settings.family == family
    }
}
