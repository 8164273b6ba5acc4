/// The commands that give this tool what it lacks.
enum Grant {
    /// The command that grants the capabilities to this program.
    static let command = "sudo setcap cap_net_raw,cap_net_admin+eip $(command -v bletool)"

    /// Makes the user a member of the group that a device's file belongs to.
    static func command(file path: String) -> String { "sudo usermod -aG $(stat -c %G \(path)) $USER" }
}
