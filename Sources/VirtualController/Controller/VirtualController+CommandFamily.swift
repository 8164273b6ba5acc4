import HCI

extension VirtualController {
    /// Whether the host may use a command beside those that it has used. It has then used it, even if it is
    /// refused for another reason.
    mutating func admits(_ opcode: HCIOpcode) -> Bool {
        guard let family = CommandFamily(opcode) else { return true }
        settings.family = settings.family ?? family
        return settings.family == family
    }
}
